"""The campaign page: what would be sent, to whom, and to whom not."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals.db.binding import bind
from approvals.models import Campaign, Delivery, Job
from approvals.tasks import base, send
from tests import factories
from tests.servers.smtp import SmtpSink
from tests.views.of_campaigns import look, path_of
from tests.views.reading import Read
from tests.world import World, ended, said

HOSTILE = 'anna\u202egro<script>alert("x")</script>'
LETTERS: dict[str, dict[str, Any]] = {
    "plain": {"text": "Dear {{ name }},\n\nyou leave at {{ time }}.\n", "html": ""},
    "both parts": {},
    "not ASCII": {
        "subject_line": "Grüße, {{ name }} – 你好 \U0001f35e",
        "text": "Grüße {{ name }},\n\n–\n",
        "html": "<p>你好</p>",
    },
    "awkward lines": {
        "text": ".\n..two\nFrom me\n" + "long " * 400 + "\n\ttab \nend without a line end",
        "html": "<pre>\n.\n</pre>" + "x" * 2_000,
    },
    "carriage returns": {"text": "one\r\ntwo\rthree\n", "html": "<p>\r\n</p>"},
    "a field without a value": {"text": "Dear {{ name }}, your {{ gift }} waits.\n"},
    "attached files": {
        "text": "Dear {{ name }}\n",
        "html": "<p>Hi</p>",
        "files": [
            ("terms.pdf", "application/pdf", b"%PDF-1.7\n" + bytes(range(256)) * 300),
            ('Grüße "und" mehr, sehr ausführlich und mit langem Namen.txt', "text/plain", b".\r\n.\r\n--=_"),
        ],
    },
    "markup in a value": {"text": "Dear {{ name }} & {{ time }}\n"},
}


def raw_shown(page: Read) -> bytes:
    """The source that stands on the page, as bytes."""
    found = re.search(r'<pre class="source"[^>]*>(.*?)</pre>', page.html, re.DOTALL)
    assert found
    return unescape(re.sub(r"<[^>]+>", "", found[1])).replace("\n", "\r\n").encode()


def files_put_in(shown: bytes, whole: bytes) -> bytes:
    """What is shown, with the bytes of attached files in place of the notes that they are left out."""
    packed = re.findall(rb"\r\nContent-Transfer-Encoding: base64\r\n\r\n(.*?)\r\n--=_", whole, re.DOTALL)
    for note, data in zip(re.findall(rb"\[[\d,]+ bytes of base64\]", shown), packed, strict=True):
        assert note == b"[%s bytes of base64]" % f"{len(data):,}".encode()
        shown = shown.replace(note, data, 1)
    return shown


def without_date(raw: bytes) -> bytes:
    return re.sub(rb"(?m)^Date: [^\r\n]*\r\n", b"", raw, count=1)


class TestTheMessage:
    @pytest.mark.parametrize("letter", LETTERS)
    def test_what_is_shown_is_what_is_sent_byte_for_byte_but_for_its_date(
        self, world: World, settings: Any, monkeypatch: pytest.MonkeyPatch, letter: str, tmp_path: Path
    ) -> None:
        settings.MEDIA_ROOT = tmp_path
        monkeypatch.setattr(base, "close_old_connections", lambda: None)  # the test's own transaction is open
        people = [
            ("ann@example.com", {"name": "Ann <b>", "time": "09:40"}),
            ("bob@example.com", {"name": "Bøb", "time": 7, "gift": True}),
        ]
        with bind(world.workspace.id):
            campaign = factories.campaign(to=people, **LETTERS[letter])
        deliveries = world.read(
            lambda: list(Delivery.objects.filter(campaign_id=campaign.id).order_by("position"))
        )
        pages = [look(world, campaign, to=str(delivery.id)) for delivery in deliveries]
        client = world.visit("reviewer")
        kept = [
            client.get(path_of(world, campaign, f"message/{delivery.id}/source")).content
            for delivery in deliveries
        ]
        world.approved(campaign)
        job = world.read(lambda: Job.objects.get(campaign_id=campaign.id))

        with SmtpSink() as sink:
            settings.SMTP = {**settings.SMTP, "host": "127.0.0.1", "port": sink.port}
            with world.bound():
                send.execute(str(job.id), workspace=str(world.workspace.id))
            # Over several connections the messages come in any order.
            sent = sorted(sink.wait_for(len(people)), key=lambda message: message.recipient)

        for page, source, message in zip(pages, kept, sent, strict=True):
            assert b"\r\nMessage-ID: " in message.raw
            shown = files_put_in(raw_shown(page), source) if "files" in LETTERS[letter] else raw_shown(page)
            assert without_date(shown) == without_date(source) == without_date(message.raw)
        afterwards = raw_shown(look(world, campaign, to=str(deliveries[1].id)))
        if "files" in LETTERS[letter]:
            afterwards = files_put_in(afterwards, sent[1].raw)
        assert afterwards == sent[1].raw, "once it is sent even the date is that of the message"

    def test_the_first_recipients_message_is_shown_until_another_is_chosen(self, world: World) -> None:
        campaign = world.campaign()
        page = look(world, campaign)
        assert "To ann@example.com" in page
        assert "Subject Hello Ann" in page
        assert "Dear Ann, your departure moved." in page
        assert "1 of 2" in page
        assert page.options == ["ann@example.com", "bob@example.com"]

        second = Read(world.visit("reviewer").get(page.links["→"]))

        assert "To bob@example.com" in second
        assert "2 of 2" in second
        assert "→" not in second.links
        assert "To ann@example.com" in Read(world.visit("reviewer").get(second.links["←"]))

    def test_a_recipient_is_found_by_address_however_it_is_written(self, world: World) -> None:
        assert "To bob@example.com" in look(world, world.campaign(), to=" Bob@EXAMPLE.com ")

    @pytest.mark.parametrize(
        "to", ["zoe@example.com", "no address", str(uuid4()), "x" * 10_000, "\x00", "é" * 300, "[]"]
    )
    def test_somebody_who_gets_nothing_is_said_to_and_the_first_is_shown(self, world: World, to: str) -> None:
        page = look(world, world.campaign(), to=to)
        assert page.status == 200
        assert "To ann@example.com" in page
        assert 'id="to-error"' in page.html

    def test_of_many_recipients_one_is_asked_for_by_address(self, world: World) -> None:
        campaign = world.campaign(recipients=[f"p{n}@example.com" for n in range(120)])
        page = look(world, campaign, to="p77@example.com")
        assert page.options == []
        assert "78 of 120" in page
        assert '<input id="to" type="search" name="to" value="p77@example.com"' in page.html

    def test_what_nobody_filled_in_is_flagged(self, world: World) -> None:
        people = [("ann@example.com", {"name": "Ann"}), ("bob@example.com", {"name": "Bob", "time": "9"})]
        with bind(world.workspace.id):
            campaign = factories.campaign(to=[*reversed(people)])

        page = look(world, campaign)
        assert "Nothing is known for" not in page
        assert "1 of the 2 recipients brings no value for a merge field" in page
        assert "1 of 2 would get an unfilled field. Bound to exactly this text" in page
        assert "Nothing in this message stands out" in page

        lacking = Read(world.visit("reviewer").get(page.links["Show the first one"]))
        assert "To ann@example.com" in lacking
        assert "Nothing is known for time: it stays in the message just as it was written." in lacking
        assert "you leave at {{ time }}." in lacking
        assert "Nothing in this message stands out" not in lacking

    def test_a_campaign_that_reaches_nobody_is_shown_as_it_was_written(self, world: World) -> None:
        page = look(world, world.campaign(recipients=["no address", "no@", ""]))
        assert "Nobody in the list can be reached. This is the text as it was written." in page
        assert "Dear {{ name }}," in page
        assert "Nobody in the list can be reached, so there is nothing to approve." in page
        assert "<button disabled>Approve for 0 people" in page.html
        assert "(empty)" in page

    def test_what_others_wrote_is_never_markup(self, world: World) -> None:
        with bind(world.workspace.id):
            campaign = factories.campaign(
                HOSTILE, to=[("ann@example.com", {"name": HOSTILE, "time": "9"})], purpose=HOSTILE,
                subject_line=HOSTILE, text=HOSTILE, html=HOSTILE, agent=HOSTILE,
            )  # fmt: skip
        page = look(world, campaign)
        assert "<script>" not in page.html
        assert "\u202e" not in page.html
        assert "right-to-left override" in page

    def test_another_recipient_is_brought_as_a_fragment_of_the_same_page(self, world: World) -> None:
        campaign = world.campaign()
        ask = {"HX-Request": "true", "HX-Target": "preview"}
        path = path_of(world, campaign)
        answer = world.visit("reviewer").get(path, {"to": "bob@example.com"}, headers=ask)
        fragment = Read(answer)
        assert "To bob@example.com" in fragment
        assert "<h1" not in fragment.html
        assert "Approve" not in fragment
        assert "HX-Request" in answer.headers["Vary"]
        assert 'hx-push-url="true"' in fragment.html
        ask["HX-Current-URL"] = f"http://testserver{path}reject"
        elsewhere = Read(world.visit("reviewer").get(path, headers=ask))
        assert "hx-push-url" not in elsewhere.html, "the address that answered a form is none to come back to"


class TestTheFrame:
    def test_html_stands_in_a_frame_that_can_do_nothing(self, world: World) -> None:
        campaign = world.campaign(html="<p>Hello {{ name }}<script>x</script></p>")
        page = look(world, campaign)
        frame = re.search(r'<iframe sandbox=""[^>]* src="([^"]+)"', page.html)
        assert frame

        answer = world.visit("reviewer").get(frame[1])

        assert answer.content.decode() == "<p>Hello Ann<script>x</script></p>"
        policy = answer.headers["Content-Security-Policy"]
        for part in ("default-src 'none'", "style-src 'unsafe-inline'", "img-src data:", "sandbox"):
            assert part in policy

    def test_a_message_without_html_has_no_frame(self, world: World) -> None:
        assert "<iframe" not in look(world, world.campaign(html="")).html

    @pytest.mark.parametrize("rest", ["", "/source"])
    def test_a_message_of_another_campaign_is_none(self, world: World, rest: str) -> None:
        one, other = world.campaign(), world.campaign()
        theirs = World.create("Harbour").campaign()
        for stranger in (other, theirs):
            foreign = Delivery.objects.filter(campaign_id=stranger.id)
            owner = world if stranger is other else None
            delivery_id = owner.read(lambda rows=foreign: rows.first().id) if owner else uuid4()
            answer = world.visit("reviewer").get(path_of(world, one, f"message/{delivery_id}{rest}"))
            assert answer.status_code == 404

    def test_the_source_is_a_file_of_its_own(self, world: World) -> None:
        campaign = world.campaign()
        page = look(world, campaign)
        answer = world.visit("manager").get(page.links["Download the source"])
        assert answer.headers["Content-Type"] == "message/rfc822"
        assert answer.headers["Content-Disposition"].startswith("attachment")
        assert b"To: ann@example.com\r\n" in answer.content


class TestWhoGetsIt:
    def test_everybody_who_gets_nothing_is_listed_with_why(self, world: World) -> None:
        with bind(world.workspace.id):
            people = ["ann@example.com", "no address", "Ann@example.com", HOSTILE]
            campaign = factories.campaign(to=[(email, {"name": "x", "time": "9"}) for email in people])
        page = look(world, campaign)
        assert "1 will get it if you approve" in page
        assert "3 excluded" in page
        assert "4 in the list" in page
        assert "3 get nothing, and why" in page
        assert "no address The address has a space in it. row 2" in page
        assert "Ann@example.com The same address as row 1. row 3" in page

    def test_a_long_list_of_them_has_pages(self, world: World) -> None:
        campaign = world.campaign(recipients=["ann@example.com", *(f"no address {n}" for n in range(120))])
        client = world.visit("reviewer")
        seen: list[str] = []
        url = path_of(world, campaign, "?to=ann@example.com")
        for size in (50, 50, 20):
            page = Read(client.get(url))
            found = re.findall(r"no address (\d+)<", page.html)
            assert len(found) == size
            assert "To ann@example.com" in page
            seen += found
            url = page.links.get("More →", "")
        assert seen == [str(n) for n in range(120)]
        assert url == ""
        assert "⇤ Back to the first page" in page.links

    @pytest.mark.parametrize("place", ["x", "-1", "\x00", "9" * 400, "1.5"])
    def test_a_place_that_is_none_is_the_beginning_or_the_end(self, world: World, place: str) -> None:
        page = look(world, world.campaign(), excluded=place, in_doubt=place, failed=place, back=place)
        assert page.status == 200


class TestThePage:
    def test_it_says_what_it_is_for_who_proposed_it_and_until_when(self, world: World) -> None:
        run = world.run("outreach-7", said("x"), ended())
        campaign = world.campaign(send_by=datetime.now(UTC) + timedelta(minutes=30), run=run)
        page = look(world, campaign)
        assert "Waits for approval send by: in 29 min" in page
        assert "tell people" in page
        assert "Agent outreach" in page
        assert page.links["outreach-7"] == world.at(f"runs/{run.id}/")
        assert "Nobody has decided anything about this campaign yet." in page

    def test_it_leads_back_to_the_queue_as_it_was_and_on_to_the_next(self, world: World) -> None:
        first = world.campaign("First", agent="outreach")
        world.campaign("Not asked for", agent="other")
        second = world.campaign("Second", agent="outreach")
        page = look(world, first, back="agent=outreach&evil=<script>")
        assert page.links["← Queue"] == world.at("?agent=outreach")
        assert page.links["Next: Second →"] == path_of(world, second, "?back=agent%3Doutreach")
        chosen = Read(world.visit("reviewer").get(page.links["→"]))
        assert chosen.links["← Queue"] == world.at("?agent=outreach")

    @pytest.mark.parametrize("role", ["support", "manager", "admin"])
    def test_whoever_may_not_decide_reads_whose_decision_it_is(self, world: World, role: str) -> None:
        page = look(world, world.campaign(), role)
        assert "Only members with the role reviewer may approve a campaign; ask one of them to do it." in page
        assert "Only members with the role reviewer may reject a campaign; ask one of them to do it." in page
        assert "<button disabled>Approve for 2 people" in page.html
        assert '<textarea id="reject-reason"' in page.html

    def test_another_workspaces_campaign_looks_like_none(self, world: World) -> None:
        theirs = World.create("Harbour").campaign("Their campaign")
        client = world.visit("reviewer")
        for rest in ("", "live", f"message/{uuid4()}"):
            there = client.get(world.at(f"campaigns/{theirs.id}/{rest}"))
            nowhere = client.get(world.at(f"campaigns/{uuid4()}/{rest}"))
            assert (there.status_code, nowhere.status_code) == (404, 404)
            assert "Their campaign" not in there.content.decode()

    def test_it_asks_the_database_the_same_few_questions_however_much_there_is(self, world: World) -> None:
        few = self.queries(world, world.campaign())
        many = world.campaign(recipients=[f"p{n}@example.com" for n in range(70)] + ["no"] * 60)
        assert self.queries(world, many) == few
        world.approved(many)
        world.sent(many, *["in_doubt"] * 30, *["failed"] * 30, *["sent"] * 10)
        assert self.queries(world, many) <= few + 3  # payload, item and job of its decisions
        assert few <= 33  # its versions and what its agent was told among them

    def queries(self, world: World, campaign: Campaign) -> int:
        client = world.visit("reviewer")
        client.get(path_of(world, campaign))
        with CaptureQueriesContext(connection) as captured:
            assert client.get(path_of(world, campaign)).status_code == 200
        return len([query for query in captured if "SAVEPOINT" not in query["sql"]])
