"""A digest changes with everything a decider was shown, and with nothing else."""

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.rules.digests import canonical, lineage_digest, sha256_hex, version_digest
from tests.rules.factories import RECORDS, call, run

VERSION = {
    "headers": {"from": "Shop <news@shop.example>", "reply_to": None, "subject": "Spring"},
    "text": "Dear {{ name }}",
    "html": None,
    "recipients": [(1, "ann@x.example", '{"name":"Ann"}'), (2, "bob@x.example", '{"name":"Bob"}')],
    "attachments": (),
}


def digest(**changes):
    return version_digest(**{**VERSION, **changes})


def test_canonical_text_has_sorted_keys_no_spaces_and_plain_letters():
    assert canonical({"b": [1, 2.5, None], "a": {"ü": True}}) == '{"a":{"ü":true},"b":[1,2.5,null]}'


def test_canonical_text_refuses_what_is_no_json():
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical(float("nan"))


@given(st.dictionaries(st.text(), st.integers()))
def test_the_order_of_keys_makes_no_difference(mapping):
    assert canonical(mapping) == canonical(dict(reversed(mapping.items())))


def test_text_is_hashed_as_utf_8():
    assert sha256_hex("ü") == sha256_hex("ü".encode()) == hashlib.sha256(b"\xc3\xbc").hexdigest()


def test_the_same_version_has_the_same_digest_and_it_is_this_one():
    assert digest() == digest() == "6a6ff2bb315a460b225cb7bf397b03e5fee5b587492314d53c041863cf9116bd"


@pytest.mark.parametrize(
    "change",
    [
        {"headers": {**VERSION["headers"], "subject": "Spring!"}},
        {"headers": {**VERSION["headers"], "reply_to": ""}},
        {"headers": {**VERSION["headers"], "from": "Shop <new@shop.example>"}},
        {"text": "Dear {{ name }} "},
        {"html": ""},
        {"html": "null"},
        {"attachments": [("terms.pdf", "application/pdf", "ab" * 32)]},
        {"recipients": VERSION["recipients"][:1]},
        {"recipients": []},
        {"recipients": VERSION["recipients"][::-1]},
        {"recipients": [*VERSION["recipients"], (3, "cy@x.example", "{}")]},
        {"recipients": [(1, "ann@x.example", '{"name":"Anna"}'), VERSION["recipients"][1]]},
        {"recipients": [(1, "anna@x.example", '{"name":"Ann"}'), VERSION["recipients"][1]]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_change_of_a_version_changes_its_digest(change):
    assert digest(**change) != digest()


def test_fields_do_not_run_into_each_other():
    assert digest(text="ab", html="c") != digest(text="a", html="bc")
    assert digest(recipients=[(1, "a", "bc")]) != digest(recipients=[(1, "ab", "c")])
    assert digest(recipients=[(1, "a", "b"), (2, "c", "d")]) != digest(recipients=[(1, "a", "b2cd")])


def test_recipients_may_come_from_a_generator():
    assert digest(recipients=iter(VERSION["recipients"])) == digest()


def test_the_same_lineage_has_the_same_digest_in_any_order():
    runs = [run("r1", record="called"), run("r2")]
    assert (
        lineage_digest(runs)
        == lineage_digest(reversed(runs))
        == "857bfcef38e3db2cfca55d2d43196210f295ef27f041885949f24228e6ce55c1"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"id": "r9"},
        {"status": "completed"},
        {"started": False},
        {"record": RECORDS["unknown"]},
        {"record": replace(RECORDS["called"], complete=False)},
        {"settled": False},
        {"late_events": 1},
        {"events": 1},
        {"has_input": False},
        {"is_head": False},
        {"restored": True},
        {"calls": ()},
        {"calls": (call(state="open"),)},
        {"calls": (call(name="charge"),)},
        {"calls": (call(), call(call_id="c2"))},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_change_of_a_run_changes_the_digest_of_its_lineage(change):
    before = run(record="called")
    assert lineage_digest([replace(before, **change)]) != lineage_digest([before])


def test_one_more_attempt_changes_the_digest_of_a_lineage():
    assert lineage_digest([run("r1"), run("r2")]) != lineage_digest([run("r1")])


def test_the_wording_of_the_record_does_not_change_the_digest():
    before = run(record="called")
    after = replace(before, record=replace(before.record, why="said better"))
    assert lineage_digest([after]) == lineage_digest([before])
