"""What deserves a second look in a message: tried on letters as they really come, and as somebody would forge them."""

import time
from datetime import UTC, datetime

import pytest

from approvals.rules.letters import look_at
from approvals.rules.messages import Envelope, build

NOW = datetime(2025, 11, 29, tzinfo=UTC)
STOP = "To get no more of these messages: https://northwind.example.com/unsubscribe"


def letter(html: str | None = None, **parts: object) -> Envelope:
    given = {
        "from_address": "Northwind Travel <hello@northwind.example.com>",
        "subject": "Your departure moved",
        "text": f"Dear Ann, your departure moved to 09:40.\n\n{STOP}",
    }
    return Envelope(delivery_id="d1", to="ann@example.com", html=html, date=NOW, **(given | parts))  # type: ignore[arg-type]


def looked(html: str | None = None, **parts: object):
    envelope = letter(html, **parts)
    return look_at(envelope, len(build(envelope)))


def codes(html: str | None = None, **parts: object) -> set[str]:
    return {finding.code for finding in looked(html, **parts).findings}


def link(html: str):
    """The one link of it that is no way out."""
    (target,) = [one for one in looked(html).targets if "unsubscribe" not in one.url]
    return target


def doubts(html: str) -> set[str]:
    return {doubt.code for doubt in link(html).doubts}


def tracked(size: str) -> str:
    return f'<img src="https://t.example.net/o.gif" {size}>'


def test_nothing_is_said_about_a_plain_letter():
    assert codes() == set()
    html = f"<p>Dear Ann, your departure moved to 09:40.</p><p>{STOP}</p>"
    assert codes(html) == set()


# Links.


@pytest.mark.parametrize(
    ("html", "code"),
    [
        ("<a href=https://evil.example.net/x>https://bank.example.com</a>", "other_site"),
        ("<a href='https://evil.example.net'>www.bank.example.com/login</a>", "other_site"),
        ("<a href='https://evil.example.net'><b>bank</b>.example.com</a>", "other_site"),
        ("<a href='mailto:eve@example.net'>desk@northwind.example.com</a>", "other_address"),
        ("<a href='javascript:alert(1)'>Go</a>", "runs"),
        ("<a href=' java\nscript&colon;alert(1)'>Go</a>", "runs"),
        ("<a href='DATA:text/html;base64,PHNjcmlwdD4='>Go</a>", "runs"),
        ("<a href='https://bank.example.com@evil.example.net/'>Go</a>", "before_at"),
        ("<a href='https:\\\\bank.example.com@evil.example.net'>Go</a>", "before_at"),
        ("<a href='https://192.0.2.7/login'>Go</a>", "numbers"),
        ("<a href='http://3221225991/'>Go</a>", "numbers"),
        ("<a href='https://bit.ly/3xYz'>Go</a>", "short"),
        ("<a href='http://northwind.example.com'>Go</a>", "unencrypted"),
        ("<a href='https://xn--pple-43d.com'>Go</a>", "mixed_host"),
        ("<a href='https://\u0430pple.com'>Go</a>", "mixed_host"),
        ("<a href='https://m\u00fcnchen.example.com'>Go</a>", "foreign_host"),
        ("<a href='https://northwind.example.com'></a>", "hidden"),
        ("<div style='display:none'><a href='https://x.example.com'>Go</a></div>", "hidden"),
        ("<a href='northwind.example.com/offer'>Go</a>", "nowhere"),
        ("<a href='{{ link }}'>Go</a>", "differs"),
        ("<a href='https://{{ host }}/x'>Go</a>", "differs"),
        ("<area href='ftp://x.example.com'>", "scheme"),
    ],
)
def test_a_link_that_could_mislead_says_why(html, code):
    assert code in doubts(html)


@pytest.mark.parametrize(
    "html",
    [
        "<a href='https://www.northwind.example.com/a'>northwind.example.com</a>",
        "<a href='https://northwind.example.com/a'>shop.northwind.example.com</a>",
        "<a href='https://northwind.example.com/a'>See version 2.0.1, e.g. of Node.js</a>",
        "<a href='mailto:desk@northwind.example.com?subject=Hi'>Desk@northwind.example.com</a>",
        "<a href='tel:+4930123'>Call us</a>",
        "<a href='https://northwind.example.com'><img src='cid:logo' alt='Northwind'></a>",
    ],
)
def test_a_link_that_does_what_it_says_is_left_alone(html):
    assert doubts(html) == set()


def test_each_target_stands_once_with_the_words_that_lead_to_it():
    html = "<a href='https://a.example.com/x'>one</a> <a href='https://a.example.com/x'>two</a>"
    found = looked(html, text=f"See https://a.example.com/x.\n{STOP}")
    (target,) = [one for one in found.targets if one.host == "a.example.com"]
    assert (target.words, target.where, target.number) == (("one", "two"), ("HTML", "text"), 3)


def test_the_words_of_a_link_are_those_that_stand_in_it_however_it_is_closed():
    assert link("<a href='https://a.example.com'>one <b>two</a> three</b>").words == ("one two",)
    assert link("<p><a href='https://a.example.com'>one</p> two").words == ("one",)


def test_doubtful_links_come_first():
    html = "<a href='https://a.example.com'>a</a><a href='javascript:x'>b</a>"
    assert looked(html).targets[0].url == "javascript:x"
    assert "links" in codes(html)


# What cannot be seen.


@pytest.mark.parametrize(
    "style",
    [
        "display:none",
        "DISPLAY : NONE !important",
        "visibility:hidden",
        "font-size:0",
        "font-size:0px",
        "opacity:0.0",
        "color:#fff",
        "color:#FFFFFF;background:white",
        "background-color:#abc;color:#aabbcc",
        "max-height:0;overflow:hidden",
        "text-indent:-9999px",
        "position:absolute;left:-5000px",
        "mso-hide:all",
        "color:transparent",
    ],
)
def test_text_that_a_style_hides_is_shown_to_the_reviewer(style):
    found = looked(f'<p>Hello</p><div style="{style}"><b>ignore the above</b></div>')
    (hidden,) = [finding for finding in found.findings if finding.code == "hidden"]
    assert "ignore the above" in hidden.words[0]


@pytest.mark.parametrize(
    "html",
    [
        '<td bgcolor="#003366"><font color="#ffffff">Book now</font></td>',
        '<div style="background:#036"><a style="color:#fff" href="https://a.example.com">Book</a></div>',
        '<div style="font-size:0"><div style="font-size:14px">In two columns</div></div>',
        "<style>@media (max-width:400px){.big{display:none}}</style><p class=big>Hello</p>",
        "<style>.b{background:#036}</style><p class=b style='color:#fff'>Hello</p>",
        '<div style="background-image:url(cid:x)"><p style="color:white">Hello</p></div>',
        '<!-- <p style="display:none">a comment</p> --><p>Hello</p>',
    ],
)
def test_what_can_be_seen_does_not_count_as_hidden(html):
    assert "hidden" not in codes(html)


def test_a_style_sheet_can_hide_too():
    assert "hidden" in codes(
        "<style>/* x */ p.pre, #top { display: none }</style><p class='a pre'>secret</p>"
    )
    assert "hidden" in codes("<p class='pre'>secret</p><style>.pre{font-size:1em;display:none}</style>")
    assert "hidden" in codes("<p hidden>secret</p>")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("pay\u200bpal", "unseen"),
        ("invoice\u202egpj.exe", "turning"),
        ("hello \U000e0069\U000e0067", "tags"),
        ("p\u0430ypal", "mixed"),
        ("\U0001d41b\U0001d41a\U0001d427\U0001d424", "mixed"),
    ],
)
def test_characters_that_deceive_are_found_wherever_they_stand(text, code):
    assert code in codes(subject=text)
    assert code in codes(text=f"{text} {STOP}")
    assert code in codes(f"<p>{text}</p>")
    assert code in codes(f"<p>{text.encode('ascii', 'xmlcharrefreplace').decode()}</p>"), "as references too"


@pytest.mark.parametrize(
    "text",
    [
        "Grüße aus München, 東京 and Москва",
        "family \U0001f468\u200d\U0001f469\u200d\U0001f467 and heart \u2764\ufe0f",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "می‌خواهم",
        "price\u00a0of 5\u202f€",
    ],
)
def test_what_people_write_in_every_language_is_no_finding(text):
    assert codes(subject=text) == set()


# What it loads and asks for.


@pytest.mark.parametrize(
    ("html", "code"),
    [
        (tracked("width=1 height=1"), "tracking"),
        (tracked('style="width:1px;height:1px"'), "tracking"),
        (tracked('style="display:none"'), "tracking"),
        (tracked('width="600"'), "remote"),
        ("<table background='//cdn.example.net/b.png'>", "remote"),
        ("<div style=\"background:url('https://cdn.example.net/b.png')\">", "remote"),
        ("<style>body{background:url(https://cdn.example.net/b.png)}</style>", "remote"),
        ("<img srcset='https://cdn.example.net/b.png 2x'>", "remote"),
        ("<link rel=stylesheet href=https://cdn.example.net/a.css>", "imports"),
        ("<style>@import 'https://cdn.example.net/a.css'</style>", "imports"),
        ("<form action=https://evil.example.net><input name=pin></form>", "form"),
        ("<script>alert(1)</script>", "runs"),
        ("<img src=x onerror=alert(1)>", "runs"),
        ("<iframe srcdoc='x'></iframe>", "runs"),
        ("<base href=https://evil.example.net>", "base"),
        ("<meta http-equiv=Refresh content='0;url=https://evil.example.net'>", "moves_on"),
    ],
)
def test_what_is_loaded_run_or_asked_for_is_named(html, code):
    assert code in codes(f"<p>Hello</p>{html}")


def test_pictures_within_the_message_are_none_from_outside():
    assert not {"remote", "tracking"} & codes(
        "<img src='cid:logo' width=1><img src='data:image/png;base64,AA'>"
    )


# The sender, the words, the size.


def test_a_name_that_shows_another_address_and_answers_to_another_domain_are_flagged():
    assert "name_is_address" in codes(from_address='"service@bank.example.org" <x@evil.example.net>')
    assert "name_is_address" not in codes(
        from_address='"northwind.example.com" <hello@northwind.example.com>'
    )
    assert "other_reply_to" in codes(reply_to="desk@elsewhere.example.net")
    assert "other_reply_to" not in codes(reply_to="desk@mail.northwind.example.com")


@pytest.mark.parametrize(
    "words", ["Unsubscribe", "Newsletter abbestellen", "Se désinscrire", "Darse de baja"]
)
def test_a_way_out_is_known_in_several_languages(words):
    assert "no_unsubscribe" not in codes(text=f"Hello. {words}: desk@northwind.example.com")


def test_a_letter_without_a_way_out_is_flagged():
    assert "no_unsubscribe" in codes(text="Hello.")
    assert "no_unsubscribe" not in codes(
        text="Hello.", headers={"List-Unsubscribe": "<https://x.example.com/u>"}
    )
    assert "no_unsubscribe" in codes("<p style='display:none'>unsubscribe</p>", text="Hello."), (
        "nobody sees it"
    )


def test_text_and_html_that_say_different_things_are_flagged():
    assert "two_texts" in codes("<p>Buy our cheap watches today, only for you and your friends</p>")
    assert "no_text" in codes("<p>Hello</p>", text=" \n")
    assert "no_subject" in codes(subject="  ")


def test_size_is_told_and_a_large_message_is_flagged():
    assert looked().size == len(build(letter()))
    assert "clipped" in codes(f"<p>{'word ' * 21_000}</p>")
    assert {"clipped", "large"} <= codes(f"<p>{'word ' * 110_000}</p>")


# However it is built, looking takes little time and no depth.


def _hostile(number: int) -> dict[str, str]:
    return {
        "deep": "<div>" * 10_000 + "x" + "</div>" * 10_000,
        "unfinished tags": "<a " * (number // 3),
        "unfinished quotes": "<a href='" * (number // 9),
        "unfinished comments": "<!--" * (number // 4),
        "unfinished declarations": "<!" * (number // 2),
        "unfinished ends": "</a " * (number // 4),
        "ends of nothing": "<i>" + "</b>" * (number // 4),
        "brackets": "<" * number,
        "references": "&#" * (number // 2),
        "attributes": "<a " + "b=c " * (number // 4) + ">",
        "scripts": "<script>" * (number // 8),
        "styles": "<style>" * (number // 7),
        "braces": "<style>" + "{" * number,
        "urls": "<style>" + "url(" * (number // 4),
        "links": "<a href='https://x.example.com/1'>x" * (number // 35),
        "different links": "".join(f"<a href='https://x{n}.example.com'>x" for n in range(number // 30)),
        "declarations": f'<p style="{"a:b;" * (number // 4)}">',
        "classes": f'<p class="{"a " * (number // 2)}">',
        "spaces": "<a" + " " * number + "=x>",
        "words": "a." * (number // 2),
        "hidden": "<p hidden>x" * (number // 11),
    }


@pytest.mark.parametrize("name", _hostile(10))
def test_html_of_5_mb_and_nested_10_000_deep_is_looked_at_in_bounded_time(name):
    html = _hostile(5_000_000)[name]
    envelope = letter(html)
    started = time.process_time()
    found = look_at(envelope, len(html))
    assert time.process_time() - started < 20, "it would be hours if it were quadratic"
    said = {finding.code for finding in found.findings}
    assert ("too_long" in said) == (len(html) > 1_000_000)
    if name == "deep":
        assert "deep" in said


def test_a_text_of_5_mb_is_looked_at_in_bounded_time():
    for piece in ("https://a.example.com/x ", "\u200b", "a\u0430 ", "(" * 9, "opt "):
        text = piece * (5_000_000 // len(piece))
        started = time.process_time()
        look_at(letter(text=text), len(text))
        assert time.process_time() - started < 20
