"""Which addresses mail can go to, and which text may stand in a header field."""

import sys
import unicodedata

import pytest
from email_validator import EmailNotValidError, validate_email
from hypothesis import assume, example, given
from hypothesis import strategies as st

from approvals.rules import addresses
from approvals.rules.addresses import (
    Address,
    Mailbox,
    Refused,
    check_address,
    check_header,
    check_mailbox,
)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("ann@shop.example", "ann@shop.example"),
        ("Ann.Lee+news@Shop.EXAMPLE", "Ann.Lee+news@shop.example"),
        ("Info@Shop.example", "Info@shop.example"),
        ("o'neil_1@a-b.co.uk", "o'neil_1@a-b.co.uk"),
        ("a--b@shop.example", "a--b@shop.example"),
        ("ann@münchen.example", "ann@xn--mnchen-3ya.example"),
        ("ann@xn--mnchen-3ya.example", "ann@xn--mnchen-3ya.example"),
        ("ann@shop。example", "ann@shop.example"),
        ("a" * 64 + "@shop.example", "a" * 64 + "@shop.example"),
    ],
)
def test_a_good_address_keeps_its_first_part_and_gets_a_lower_case_ascii_domain(text, normal):
    assert check_address(text) == Address(normal)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "There is no address."),
        ("  ", "There is no address."),
        ("ann", "The address has no @."),
        ("ann lee@shop.example", "The address has a space in it."),
        (" ann@shop.example", "The address has a space in it."),
        ("ann@shop.example\n", "The character U+000A is a control character or line break; take it out."),
        ("a" * 255, "The address is longer than 254 characters."),
        ("ann@shop.example\x00", "The character U+0000 is a control character or line break; take it out."),
        ("\ud800@shop.example", "The character U+D800 is a control character or line break; take it out."),
    ],
)
def test_the_most_common_slips_have_their_own_words(text, reason):
    assert check_address(text) == Refused(reason)


@pytest.mark.parametrize(
    "text",
    [
        "@shop.example",
        "ann@",
        "ann@@shop.example",
        "ann@shop@shop.example",
        "ann@shop",
        "ann@shop..example",
        "ann@.example",
        "ann@-shop.example",
        "ann@shop-.example",
        "ann@ab--cd.example",
        "ann@shop.123",
        "ann@localhost",
        "ann@host.test",
        "ann@host.local",
        "ann@host.LOCAL",
        "ann@host.invalid",
        "ann@[127.0.0.1]",
        '"ann lee"@shop.example',
        '"ann"@shop.example',
        ".ann@shop.example",
        "ann.@shop.example",
        "an..n@shop.example",
        "Ann <ann@shop.example>",
        "<ann@shop.example>",
        "ann@shop.example,bob@shop.example",
        "änn@shop.example",
        "a" * 65 + "@shop.example",
        "ann@" + "a" * 64 + ".example",
        "ann@" + "a." * 130 + "example",
        "ann@xn--a.example",
    ],
)
def test_what_cannot_be_addressed_is_refused_with_a_sentence(text):
    answer = check_address(text)
    assert isinstance(answer, Refused)
    assert answer.reason.endswith(".") and check_header(answer.reason) is None


def test_addresses_that_differ_in_case_alone_have_one_dedupe_key():
    one, other = check_address("Ann@Shop.example"), check_address("ann@shop.EXAMPLE")
    assert one != other
    assert one.dedupe_key == other.dedupe_key == "ann@shop.example"


def test_the_domain_is_what_follows_the_at():
    assert check_address("ann@Shop.example").domain == "shop.example"


# The quick way and the validator agree.

LABELS = st.text("aB0-", min_size=1, max_size=5) | st.sampled_from(
    ["example", "com", "test", "local", "LOCALHOST", "arpa", "xn--a", "a" * 63, "a" * 64, "ü", "1"]
)
NEARLY_ADDRESSES = st.builds(
    lambda local, labels: local + "@" + ".".join(labels),
    st.text("aZ9.+-_'!\"\\ü@ ", max_size=8) | st.sampled_from(["info", "a" * 64, "a" * 65]),
    st.lists(LABELS, min_size=1, max_size=6),
)


def by_the_validator(text):
    try:
        valid = validate_email(text, allow_smtputf8=False, check_deliverability=False, strict=True)
    except EmailNotValidError:
        return None
    return f"{text.rpartition('@')[0]}@{valid.ascii_domain}"


@given(NEARLY_ADDRESSES | st.text() | st.emails())
@example("a@a." + "b" * 63)
@example("a@" + ".".join(["a" * 63] * 3) + "." + "b" * 58)
@example("a@" + ".".join(["a" * 63] * 3) + "." + "b" * 61)
@example("info@b.co\n")
@example("\u017f@\u212a.com")
@example("{{@0.a")
def test_every_answer_is_the_one_of_the_validator_but_for_merge_fields(text):
    answer = check_address(text)
    expected = None if "{{" in text or "}}" in text else by_the_validator(text)
    assert (answer.normal if isinstance(answer, Address) else None) == expected


@given(st.from_regex(addresses._PLAIN, fullmatch=True))
def test_what_the_pattern_lets_through_the_validator_lets_through_too(text):
    assume(addresses._surely_good(text) is not None)
    assert addresses._surely_good(text) == by_the_validator(text)


def test_an_ordinary_address_takes_the_quick_way():
    assert addresses._surely_good("Ann.Lee+news@mail.Shop-1.example") == "Ann.Lee+news@mail.shop-1.example"


# Mailboxes.


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ann@shop.example", ""),
        ("<ann@shop.example>", ""),
        ("Ann Lee <ann@shop.example>", "Ann Lee"),
        ("Ann<ann@shop.example>", "Ann"),
        ('"Lee, Ann" <ann@shop.example>', "Lee, Ann"),
        (r'"Ann \"Bo\" \\ Lee" <ann@shop.example>', r"Ann " '"Bo"' r" \ Lee"),
        ("Änn Łee <ann@shop.example>", "Änn Łee"),
        ('"a@b <c>" <ann@shop.example>', "a@b <c>"),
    ],
)
def test_a_mailbox_is_a_name_and_an_address(text, name):
    assert check_mailbox(text) == Mailbox(name, Address("ann@shop.example"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ann",
        "Ann <>",
        "Ann <ann@shop.example",
        "ann@shop.example>",
        "Ann <ann@shop.example> x",
        "Lee, Ann <ann@shop.example>",
        "bob@x.example, Ann <ann@shop.example>",
        "<bob@x.example> <ann@shop.example>",
        'Ann "Bo" Lee <ann@shop.example>',
        '"Ann" Lee" <ann@shop.example>',
        "Ann\r\nBcc: bob@x.example <ann@shop.example>",
        "Ann <ann@shop.example\n>",
    ],
)
def test_what_is_no_single_mailbox_is_refused(text):
    assert isinstance(check_mailbox(text), Refused)


# Header fields.


def test_exactly_control_and_line_separator_characters_and_surrogates_are_refused():
    refused = {code for code in range(sys.maxunicode + 1) if check_header(chr(code)) is not None}
    assert refused == {
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Cc", "Zl", "Zp", "Cs"}
    }


def test_whatever_python_takes_for_a_line_end_is_refused():
    for code in range(sys.maxunicode + 1):
        if len(f"a{chr(code)}b".splitlines()) > 1:
            assert check_header(f"Subject{chr(code)}Bcc: x") is not None


def test_the_refusal_names_the_character():
    assert check_header("a\x0bb") == (
        "The character U+000B is a control character or line break; take it out."
    )
