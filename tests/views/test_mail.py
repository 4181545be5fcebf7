"""Caught mail."""

from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from dashboard.embedded import mailbox
from tests.views.reading import Read
from tests.world import World, signed_in, stranger


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.MAIL_CATCHER_DIR = str(tmp_path)
    return tmp_path


def caught(
    folder: Path, to: str = "ann@example.com", subject: str = "Hello", html: str = "", text: str = "Dear Ann"
) -> str:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, "Shop <shop@example.com>", to
    message.set_content(text)
    if html:
        message.add_alternative(html, subtype="html")
    return mailbox.store(folder, "shop@example.com", [to], message.as_bytes())


def test_caught_messages_are_listed_newest_first(world: World, folder: Path) -> None:
    caught(folder, subject="First")
    name = caught(folder, to="bob@example.com", subject="Grüße, second")

    page = Read(world.visit("reviewer").get("/mail/"))

    assert "2 messages were caught." in page
    assert ["second" in page.rows[0], "First" in page.rows[1]] == [True, True]
    assert "bob@example.com" in page.rows[0]
    assert page.links["Grüße, second"] == f"/mail/{name}/"


def test_one_message_shows_its_headers_and_text_and_its_html_in_a_frame(world: World, folder: Path) -> None:
    name = caught(folder, html="<p onclick=x>Hi <script>alert(1)</script></p>", text="Dear Ann,\nbye\u202e")
    client = world.visit("support")

    page = Read(client.get(f"/mail/{name}/"))
    frame = client.get(f"/mail/{name}/html/")

    assert "Subject Hello" in page
    assert "From Shop <shop@example.com>" in page
    assert "Dear Ann, bye" in page
    assert "\u202e" not in page.html
    assert "<script>alert" not in page.html
    assert (
        f'<iframe sandbox="" referrerpolicy="no-referrer" loading="lazy" src="/mail/{name}/html/"'
        in page.html
    )
    assert "<script>alert(1)</script>" in frame.content.decode()
    policy = frame.headers["Content-Security-Policy"]
    for part in (
        "default-src 'none'",
        "sandbox",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "frame-ancestors 'self'",
    ):
        assert part in policy
    assert "script-src" not in policy
    assert frame.headers["X-Content-Type-Options"] == "nosniff"


def test_attached_files_are_named_with_what_they_are(world: World, folder: Path) -> None:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "Two files", "shop@example.com", "ann@example.com"
    message.set_content("Dear Ann")
    message.add_attachment(
        b"%PDF-1.4 " * 100, maintype="application", subtype="pdf", filename="Preise März.pdf"
    )
    message.add_attachment("a,b\n", subtype="csv", filename="<b>.csv")
    name = mailbox.store(folder, "shop@example.com", ["ann@example.com"], message.as_bytes())

    page = Read(world.visit("support").get(f"/mail/{name}/"))

    assert "2 attached files" in page
    assert "Preise März.pdf, application/pdf, 900 bytes" in page
    assert "<b>.csv, text/csv, 4 bytes" in page
    assert page.links["the raw message"] == f"/mail/{name}/raw/"


def test_the_raw_message_is_a_download(world: World, folder: Path) -> None:
    name = caught(folder)

    response = world.visit("support").get(f"/mail/{name}/raw/")

    assert response.content == mailbox.load(folder, name).raw
    assert response.headers["Content-Type"] == "message/rfc822"
    assert response.headers["Content-Disposition"].startswith("attachment")


def test_words_are_found_in_address_and_subject(world: World, folder: Path) -> None:
    caught(folder, to="ann@example.com", subject="Winter")
    caught(folder, to="bob@example.com", subject="Summer")
    client = world.visit("support")

    assert "1 of 2 messages matches." in Read(client.get("/mail/", {"q": "WINTER"}))
    assert "bob@example.com" in Read(client.get("/mail/", {"q": "bob@"})).rows[0]
    for odd in ("\0", "x" * 10_000, "'"):
        assert client.get("/mail/", {"q": odd, "after": odd}).status_code == 200


def test_many_messages_come_in_pages(world: World, folder: Path) -> None:
    for number in range(55):
        caught(folder, subject=f"Number {number:02}")
    client = world.visit("support")

    first = Read(client.get("/mail/"))
    second = Read(client.get(first.links["Older →"]))

    assert (len(first.rows), len(second.rows)) == (50, 5)
    assert "Number 00" in second.rows[-1]


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"\0\xff\xfe", b"no header at all", b"Subject: =?utf-8?q?broken\r\n\r\n\xff\xff",
        b"Content-Type: text/plain; charset=no-such\r\n\r\n\xe9", b"Subject: a\x0bb\r\nTo: <<>>\r\nFrom: @\r\n\r\nx",
        b"Content-Type: multipart/mixed\r\n\r\nx", b"Content-Type: text/html; charset=utf-16\r\n\r\n\x00<",
        b"Content-Transfer-Encoding: base64\r\nContent-Type: text/html\r\n\r\n!!!", b"To: " + b"a@b.c, " * 20_000,
        b"Subject: " + b"x" * 200_000, b"Date: 32 Foo 99999 25:61\r\nMessage-ID: <<<\r\n\r\n",
    ],
    ids=lambda raw: repr(raw[:30]),
)  # fmt: skip
def test_anything_that_was_caught_can_be_looked_at(world: World, folder: Path, raw: bytes) -> None:
    name = mailbox.store(folder, "", ["x@example.com"], raw)
    client = world.visit("support")

    for path in ("/mail/", "/mail/?q=x", f"/mail/{name}/", f"/mail/{name}/html/", f"/mail/{name}/raw/"):
        assert client.get(path).status_code == 200, path


@pytest.mark.parametrize("name", ["nothing", "..", "../../etc/passwd", "%2e%2e", "*", "\0"])
def test_no_name_leads_out_of_the_folder(world: World, folder: Path, name: str) -> None:
    caught(folder)
    for rest in ("", "html/", "raw/"):
        assert world.visit("support").get(f"/mail/{name}/{rest}").status_code == 404


def test_only_members_see_it_and_only_where_mail_is_caught(world: World, folder: Path, settings: Any) -> None:
    name = caught(folder)
    paths = ["/mail/", *(f"/mail/{name}/{rest}" for rest in ("", "html/", "raw/"))]
    for path in paths:
        assert Client().get(path).headers["Location"].startswith("/accounts/login/")
        assert signed_in(stranger()).get(path).status_code == 404
        assert world.visit("manager").get(path).status_code == 200
    settings.MAIL_CATCHER_DIR = ""
    for path in paths:
        assert world.visit("manager").get(path).status_code == 404
