"""Strict JSON reads one way or not at all, and no input makes it slow or deep."""

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from approvals.rules.strict_json import BadJson, loads

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
)
KEYS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=20)


def refused(body):
    with pytest.raises(BadJson) as error:
        loads(body if isinstance(body, bytes) else body.encode())
    return error.value


@given(VALUES, st.booleans())
def test_whatever_json_can_say_is_read_as_it_was_meant(value, escaped):
    assert loads(json.dumps(value, ensure_ascii=escaped).encode()) == value


@given(st.binary())
@example(b'"\\')
@example(b'{"a')
@example(b"\xef\xbb\xbf{}")
def test_any_bytes_are_read_or_refused_and_nothing_else_happens(body):
    try:
        value = loads(body)
    except BadJson as refusal:
        json.dumps(refusal.as_problem()).encode("ascii")
    else:
        assert value == json.loads(body)


@given(st.text(alphabet='[]{}",:\\u01dD8 \n', max_size=60))
def test_any_text_made_of_json_signs_is_read_like_the_standard_parser_does_or_refused(text):
    try:
        value = loads(text.encode())
    except BadJson:
        return
    assert value == json.loads(text)


@pytest.mark.parametrize(
    ("body", "field", "detail"),
    [
        ('{"a": 1, "a": 2}', "a", 'The key "a" is there twice. Send it once.'),
        ('{"runs": [{"x": 1}, {"x": 1, "x": 1}]}', "runs[1].x", 'The key "x" is there twice. Send it once.'),
        ('{"a b": {"": 1, "": 2}}', '["a b"][""]', 'The key "" is there twice. Send it once.'),
        ('{"a": {"b": 1, "b": 2}, "a": 3}', "a", 'The key "a" is there twice. Send it once.'),
        ('{"a": 1, "\\u0061": 2}', "a", 'The key "a" is there twice. Send it once.'),
        ('{"n": NaN}', "n", "NaN is not a JSON number."),
        ('{"n": [Infinity]}', "n[0]", "Infinity is not a JSON number."),
        ("-Infinity", None, "-Infinity is not a JSON number."),
        (
            '{"n": 9223372036854775808}',
            "n",
            "A whole number must fit into 64 bits. Send a longer one as text.",
        ),
        (
            '{"n": -9223372036854775809}',
            "n",
            "A whole number must fit into 64 bits. Send a longer one as text.",
        ),
        ('{"n": 1e999}', "n", "This number is too large or too long. Send it as text."),
        ('{"to": ["a\\u0000"]}', "to[0]", "This text holds NUL or half a surrogate pair."),
        ('{"to": "\\ud800"}', "to", "This text holds NUL or half a surrogate pair."),
        ('{"to": "\\uDFFF\\uD800"}', "to", "This text holds NUL or half a surrogate pair."),
        ('{"vars": {"\\u0000": 1}}', 'vars["\\u0000"]', "This key holds NUL or half a surrogate pair."),
        ('{"\\udead": 1}', '["\\udead"]', "This key holds NUL or half a surrogate pair."),
    ],
)
def test_what_has_two_readings_or_none_is_refused_with_its_path(body, field, detail):
    refusal = refused(body)
    assert (refusal.field, refusal.detail, refusal.status, refusal.code) == (field, detail, 400, "bad_json")


@pytest.mark.parametrize(
    "body", ["", " ", "{", '{"a":}', "[1,]", "{'a':1}", "01", "+1", ".5", "tru", '"a\tb"', "{} {}", '"\x00"']
)
def test_what_is_no_json_is_refused_with_the_place(body):
    assert "is not valid JSON" in refused(body).detail
    assert "line 1, column" in refused(body).detail


@pytest.mark.parametrize("body", [b"\xff", b'"\xc0\x80"', b'"\xed\xa0\x80"', '"ä"'.encode("latin-1")])
def test_what_is_no_utf_8_is_refused(body):
    assert "is not UTF-8" in refused(body).detail


def test_the_largest_numbers_of_64_bits_are_read():
    assert loads(b"[9223372036854775807, -9223372036854775808]") == [2**63 - 1, -(2**63)]


def test_a_whole_surrogate_pair_is_one_character():
    assert loads(b'"\\ud83d\\ude00"') == "\N{GRINNING FACE}"


def test_an_escaped_backslash_before_u0000_is_plain_text():
    assert loads(b'"\\\\u0000"') == "\\u0000"


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")], ids=["arrays", "objects"])
def test_64_levels_are_read_and_65_refused(opening, closing):
    loads(f"{opening * 63}[]{closing * 63}".encode())
    assert "nested more than 64 levels" in refused(f"{opening * 64}[]{closing * 64}").detail


def test_another_limit_can_be_asked_for():
    assert loads(b"[[1]]", max_depth=2) == [[1]]
    with pytest.raises(BadJson, match="more than 1 levels"):
        loads(b"[[1]]", max_depth=1)


@pytest.mark.parametrize("text", ["[" * 100, '\\"' + "[{" * 100, "\\\\", '\\\\\\"' + "[" * 100])
def test_brackets_inside_of_strings_are_no_depth(text):
    assert loads(f'["{text}", []]'.encode()) == json.loads(f'["{text}", []]')


@pytest.mark.parametrize("start", ['"\\\\"', '"\\""', '"a"', '"\\\\\\""', '"]]]]"'])
def test_depth_after_a_string_is_seen_however_the_string_ends(start):
    assert "nested more than" in refused(f"[{start},{'[' * 64}{']' * 64}]").detail


SIZE = 5_000_000


@pytest.mark.parametrize(
    "body",
    [
        b"[" * SIZE,
        b"]" * SIZE,
        b'{"a":' * (SIZE // 5),
        b'"' * SIZE,
        b'"' + b"a" * 6_000_000 + b'"',
        b'"' + b'\\"' * (SIZE // 2),
        b'"' + b"\\\\" * (SIZE // 2) + b'"',
        b"9" * SIZE,
        b"9" * SIZE + b".5e9",
        b"[" + b'{"email":"ann@x.example","vars":{"n":1}},' * (SIZE // 42) + b"0]",
    ],
    ids=[
        "deep arrays",
        "closing only",
        "deep objects",
        "quotes",
        "one long string",
        "a string without an end",
        "backslashes",
        "a long number",
        "a long fraction",
        "recipients",
    ],
)
def test_five_megabytes_of_anything_take_no_time(body):
    began = time.perf_counter()
    try:
        loads(body)
    except BadJson as refusal:
        assert len(json.dumps(refusal.as_problem())) < 1000
    assert time.perf_counter() - began < 2  # about 0.2 on an ordinary machine


def test_a_path_is_never_longer_than_a_line():
    refusal = refused(json.dumps({"k" * 9000: {"ü " * 9000: "\x00"}}))
    assert len(refusal.field) <= 200
    twice = '{"' + "k" * 9000 + '": 1, "' + "k" * 9000 + '": 1}'
    assert len(json.dumps(refused(twice).as_problem())) < 1000
