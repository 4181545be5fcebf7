"""A message is the same bytes for the same parts, reads back as it was meant, and cannot be tampered with."""

import email
import email.policy
import json
import re
from datetime import UTC, datetime
from email.header import decode_header, make_header

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from approvals.exceptions import Invalid
from approvals.rules.addresses import check_header
from approvals.rules.messages import Envelope, build, merge, message_id_of

DELIVERY = "5f0c9a52-6f0e-4c3e-9d3a-0d6a2f4b7c11"
PARTS = {
    "delivery_id": DELIVERY,
    "from_address": "Shop <news@shop.example>",
    "to": "ann@x.example",
    "subject": "Spring is here",
    "text": "Dear Ann,\n\nspring is here.\n",
    "date": datetime(2026, 3, 20, 9, 30, tzinfo=UTC),
}
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
HEADER_TEXT = ANY_TEXT.filter(lambda text: check_header(text) is None)


def raw(**changes):
    return build(Envelope(**{**PARTS, **changes}))


def read(data):
    return email.message_from_bytes(data, policy=email.policy.compat32)


def decoded(header):
    return str(make_header(decode_header(header)))


def content(part):
    return same_ends(part.get_payload(decode=True).decode())


def same_ends(text):
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")


# The bytes.


def test_a_plain_message_is_exactly_this():
    assert raw() == (
        b"Date: Fri, 20 Mar 2026 09:30:00 +0000\r\n"
        b"Message-ID: <5f0c9a52-6f0e-4c3e-9d3a-0d6a2f4b7c11@shop.example>\r\n"
        b"From: Shop <news@shop.example>\r\n"
        b"To: ann@x.example\r\n"
        b"Subject: Spring is here\r\n"
        b"MIME-Version: 1.0\r\n"
        b"Content-Type: text/plain; charset=utf-8\r\n"
        b"Content-Transfer-Encoding: 7bit\r\n"
        b"\r\n"
        b"Dear Ann,\r\n\r\nspring is here.\r\n"
    )


def test_the_same_parts_make_the_same_bytes():
    assert raw(html="<p>Hi</p>") == raw(html="<p>Hi</p>")


def test_another_delivery_has_another_message_id_and_boundary():
    one, other = read(raw(html="<p>Hi</p>")), read(raw(html="<p>Hi</p>", delivery_id="another"))
    assert one["Message-ID"] != other["Message-ID"]
    assert one.get_boundary() != other.get_boundary()


def test_the_message_id_is_known_before_the_message_is_built():
    assert message_id_of(DELIVERY, PARTS["from_address"]) == read(raw())["Message-ID"]


def test_a_message_id_that_was_fixed_before_is_kept():
    assert read(raw(message_id="<old@shop.example>"))["Message-ID"] == "<old@shop.example>"


def test_text_and_html_are_two_readings_of_one_message():
    message = read(raw(text="Hi Ä", html="<p>Hi Ä</p>"))
    assert message.get_content_type() == "multipart/alternative"
    assert [(part.get_content_type(), content(part)) for part in message.get_payload()] == [
        ("text/plain", "Hi Ä"),
        ("text/html", "<p>Hi Ä</p>"),
    ]


def test_an_empty_html_is_none():
    assert raw(html="") == raw(html=None)


def test_further_header_fields_are_added_as_they_are():
    link = "<https://shop.example/u?t=" + "a" * 200 + ">"
    message = read(
        raw(headers={"List-Unsubscribe": link, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"})
    )
    assert message["List-Unsubscribe"].strip() == link
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Hello", "7bit"),
        ("", "7bit"),
        ("a" * 998, "7bit"),
        ("a" * 999, "quoted-printable"),
        ("Grüße aus Köln, und bis bald", "quoted-printable"),
        ("Здравствуйте, весна пришла", "base64"),
        ("form\x0cfeed", "quoted-printable"),
    ],
)
def test_a_body_is_encoded_the_shortest_safe_way(text, encoding):
    message = read(raw(text=text))
    assert message["Content-Transfer-Encoding"] == encoding
    assert content(message) == text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=ascii)
def test_every_kind_of_line_end_in_a_body_becomes_the_one_of_mail(end):
    assert raw(text=f"one{end}two") == raw(text="one\ntwo\n")
    assert raw(text=f"öne{end}two{end}") == raw(text="öne\ntwo\n")


@given(ANY_TEXT, st.none() | ANY_TEXT)
@example("From me\n.\n..\n", "a\rb\r\nc")
@example("end with spaces   \n \n", "x" * 3000)
@example("--=_boundary", "--=_boundary--")
def test_every_text_comes_back_as_it_was_sent(text, html):
    message = read(raw(text=text, html=html))
    if not html:
        assert content(message) == same_ends(text)
    else:
        assert [content(part) for part in message.get_payload()] == [same_ends(text), same_ends(html)]


@given(ANY_TEXT, st.none() | ANY_TEXT, HEADER_TEXT)
def test_no_server_has_to_change_a_byte(text, html, subject):
    data = raw(text=text, html=html, subject=subject)
    assert data.isascii()
    assert data.endswith(b"\r\n")
    lines = data.split(b"\r\n")
    assert not any(b"\r" in line or b"\n" in line or b"\x00" in line for line in lines)
    assert max(map(len, lines)) <= 998
    head = data.partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert all(len(line) <= 78 for line in head if not line.startswith(b"Message-ID"))


# Header fields.


def test_an_encoded_word_is_no_longer_than_the_standard_allows():
    head = raw(subject="Grüße " * 200, from_address=f'"{"ü" * 300}" <news@shop.example>')
    assert max(len(word) for word in head.partition(b"\r\n\r\n")[0].split()) <= 75


@given(HEADER_TEXT)
@example("=?utf-8?b?QmNj?=")
@example("two  spaces ")
@example(" ")
@example("a" * 500)
@example("word " * 100 + "end")
@example("👩\u200d👩\u200d👧 " * 30)
def test_every_subject_comes_back_as_it_was_sent(subject):
    assert decoded(read(raw(subject=subject))["Subject"].replace("\r\n", "")) == subject


@given(HEADER_TEXT.map(str.strip).filter(bool))
@example('Lee, "Ann" \\ <x>')
@example("=?utf-8?q?x?=")
@example("Grüße, GmbH")
@example("n" * 300)
@example('"' * 50)
def test_every_name_of_a_sender_comes_back_as_it_was_sent(name):
    quoted = name.replace("\\", r"\\").replace('"', r"\"")
    header = read(raw(from_address=f'"{quoted}" <news@shop.example>'))["From"].replace("\r\n", "")
    shown, bracket, address = header.rpartition("<")
    assert (bracket, address) == ("<", "news@shop.example>")
    shown = shown.removesuffix(" ")
    if shown.startswith('"'):
        assert re.sub(r"\\(.)", r"\1", shown[1:-1]) == name
    else:
        assert decoded(shown) == name


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("news@shop.example", "news@shop.example"),
        ("Ann Lee <news@shop.example>", "Ann Lee <news@shop.example>"),
        ('"Lee, Ann" <news@shop.example>', '"Lee, Ann" <news@shop.example>'),
        (r'"Ann \"Bo\" \\ Lee" <news@shop.example>', r'"Ann \"Bo\" \\ Lee" <news@shop.example>'),
        ("Änn <news@shop.example>", "=?utf-8?b?w4Rubg==?= <news@shop.example>"),
    ],
)
def test_a_sender_is_written_in_the_plainest_form_that_is_safe(given, written):
    assert read(raw(from_address=given))["From"] == written


def test_the_standard_parser_reads_one_mailbox_with_its_name():
    message = email.message_from_bytes(
        raw(from_address='"Müller, GmbH" <news@shop.example>', reply_to="Ann Lee <ann@shop.example>"),
        policy=email.policy.default,
    )
    assert [(one.display_name, one.addr_spec) for one in message["From"].addresses] == [
        ("Müller, GmbH", "news@shop.example")
    ]
    assert [(one.display_name, one.addr_spec) for one in message["Reply-To"].addresses] == [
        ("Ann Lee", "ann@shop.example")
    ]


def test_an_international_domain_is_written_in_ascii():
    message = read(raw(from_address="x@münchen.example", to="ann@Köln.example"))
    assert message["To"] == "ann@xn--kln-sna.example"
    assert message["Message-ID"].endswith("@xn--mnchen-3ya.example>")


LINE_ENDS = ["\r\n", "\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize("end", [*LINE_ENDS, "\x00", "\x7f", "\x1f", "\t", "\ud800"], ids=ascii)
@pytest.mark.parametrize(
    ("field", "template", "named"),
    [
        ("subject", "Hi{}Bcc: eve@x.example", "subject"),
        ("from_address", '"Shop{}Bcc: eve@x.example" <news@shop.example>', "from"),
        ("from_address", "news@shop.example{}", "from"),
        ("reply_to", "Ann{}Bcc: eve@x.example <ann@shop.example>", "reply_to"),
        ("to", "ann@x.example{}Bcc:eve@x.example", "to"),
        ("message_id", "<a@shop.example>{}Bcc: eve@x.example", "message_id"),
    ],
)
def test_nothing_that_could_start_a_line_gets_into_a_header_field(field, template, named, end):
    with pytest.raises(Invalid) as refusal:
        raw(**{field: template.format(end)})
    assert refusal.value.field == named


@pytest.mark.parametrize("end", LINE_ENDS, ids=ascii)
def test_nothing_that_could_start_a_line_gets_into_a_further_field(end):
    for headers in ({"X-Note": f"a{end}Bcc: eve@x.example"}, {f"X-Note: a{end}Bcc": "eve@x.example"}):
        with pytest.raises(Invalid):
            raw(headers=headers)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Bcc", "eve@x.example"),
        ("SUBJECT", "x"),
        ("Content-Type", "text/html"),
        ("Resent-To", "eve@x.example"),
        ("Bad Name", "x"),
        ("", "x"),
        ("X:", "x"),
        ("X-Note", ""),
        ("X-Note", "ü"),
        ("X-Note", "a" * 901),
    ],
)
def test_a_further_field_cannot_replace_one_of_the_message_or_be_unreadable(name, value):
    with pytest.raises(Invalid) as refusal:
        raw(headers={name: value})
    assert refusal.value.field == f"headers.{name}"


@given(HEADER_TEXT, HEADER_TEXT, ANY_TEXT, st.none() | ANY_TEXT)
@example("x", "y", "\r\n\r\n--=_x\r\nContent-Type: text/html", "\n.\nMAIL FROM:<eve@x.example>")
def test_no_value_adds_a_field_or_a_part(subject, name, text, html):
    quoted = name.replace("\\", r"\\").replace('"', r"\"")
    message = read(raw(subject=subject, from_address=f'"{quoted}" <n@shop.example>', text=text, html=html))
    fields = ["Date", "Message-ID", "From", "To", "Subject", "MIME-Version", "Content-Type"]
    assert message.keys() == (fields if html else [*fields, "Content-Transfer-Encoding"])
    assert not message.defects
    if html:
        assert [part.keys() for part in message.get_payload()] == [
            ["Content-Type", "Content-Transfer-Encoding"]
        ] * 2


def test_a_text_that_knows_the_boundary_still_adds_no_part():
    boundary = read(raw(html="x")).get_boundary()
    attack = f"Hi\r\n--{boundary}\r\nContent-Type: text/html\r\n\r\nevil\r\n--{boundary}--"
    message = read(raw(text=attack, html=attack))
    assert [content(part) for part in message.get_payload()] == [same_ends(attack)] * 2


def test_half_a_surrogate_pair_in_a_body_is_refused():
    for field in ("text", "html"):
        with pytest.raises(Invalid) as refusal:
            raw(**{field: "\ud800"})
        assert refusal.value.field == field


@pytest.mark.parametrize("delivery_id", ["", "a b", "a\nb", "a@b", "a>b", "x" * 65])
def test_a_delivery_id_is_a_plain_word(delivery_id):
    with pytest.raises(ValueError, match="delivery id"):
        raw(delivery_id=delivery_id)


# Merging.


@pytest.mark.parametrize(
    ("template", "merged"),
    [
        ("Dear {{ name }},", "Dear Ann <3,"),
        ("{{name}}{{  name }}", "Ann <3Ann <3"),
        ("{{ count }} of {{ price }}, {{ vip }}", "3 of 1.5, true"),
        ("{{ first-name }} {{ Größe }}", "A L"),
        ("{ name } {{}", "{ name } {{}"),
        ("no slot", "no slot"),
        ("", ""),
    ],
)
def test_every_known_name_is_replaced(template, merged):
    variables = {"name": "Ann <3", "count": 3, "price": 1.5, "vip": True, "first-name": "A", "Größe": "L"}
    assert merge(template, variables) == (merged, set())


def test_an_unknown_name_stays_visible_and_is_reported():
    assert merge("{{ a }} {{b}} {{ x | y }} {{ Name }}", {"a": 1, "name": 2}) == (
        "1 {{b}} {{ x | y }} {{ Name }}",
        {"b", "x | y", "Name"},
    )


def test_what_a_value_holds_is_not_merged_again():
    assert merge("{{ a }}", {"a": "{{ b }}", "b": "secret"}) == ("{{ b }}", set())


def test_values_are_escaped_in_html_and_the_template_is_not():
    assert merge("<b>{{ a }}</b>", {"a": "<i>\"x\" & 'y'"}, html=True) == (
        "<b>&lt;i&gt;&quot;x&quot; &amp; &#x27;y&#x27;</b>",
        set(),
    )


@pytest.mark.parametrize("value", [None, [], {}, b"x"])
def test_a_value_that_is_no_text_number_or_truth_is_refused(value):
    with pytest.raises(Invalid) as refusal:
        merge("{{ a }}", {"a": value})
    assert refusal.value.field == "vars.a"


@given(ANY_TEXT, st.dictionaries(ANY_TEXT, ANY_TEXT))
def test_merging_any_template_ends_and_reports_only_names_without_a_value(template, variables):
    text, missing = merge(template, variables)
    assert not missing & variables.keys()
    assert missing or "{{" not in template or text is not None


@pytest.mark.parametrize(
    "template", ["{{" * 500_000, "{{ a" * 250_000, "{" * 1_000_000, "{{" + " " * 1_000_000]
)
def test_a_megabyte_of_open_slots_takes_no_time(template):
    assert merge(template, {"a": "b"}) == (template, set())


@given(st.dictionaries(st.sampled_from("abc"), ANY_TEXT, min_size=3))
def test_html_values_never_open_a_tag(variables):
    text, _ = merge("{{ a }}{{ b }}{{ c }}", variables, html=True)
    assert not set("<>\"'") & set(text)
    assert json.dumps(text)
