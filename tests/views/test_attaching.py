"""Attaching files on the pages that propose: kept at once, told by name, taken off by a tick, never asked for twice."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from approvals.models import Attachment, Campaign, Decision, VersionAttachment
from approvals.rules import attachments as rules
from approvals.selectors.attachments import name_in_storage
from dashboard import uploads
from tests.views.forms import Form, form_of, send
from tests.views.of_proposals import TYPED, nothing_made, opened, revising, the_campaign, versions
from tests.views.reading import Read
from tests.world import World

pytestmark = pytest.mark.usefixtures("files")

WHO = {"recipients": "ann@example.com"}


def a_file(name: str = "offers.pdf", data: bytes = b"%PDF-1.7 offers", type: str = "application/pdf") -> Any:
    return SimpleUploadedFile(name, data, type)


def writing(world: World, role: str = "support") -> tuple[Any, Form]:
    client, form = opened(world, "typed=1", role)
    return client, form


def attached(world: World, number: int = 1) -> list[tuple[str, str, str]]:
    rows = VersionAttachment.objects.filter(version__number=number).order_by("position")
    return world.read(lambda: list(rows.values_list("filename", "content_type", "attachment__sha256")))


def after(answer: Any, ending: str = "?typed=1") -> Form:
    return form_of(answer, ending)


class TestANewCampaign:
    def test_files_go_along_with_the_proposal_and_stand_on_its_page(self, world: World) -> None:
        client, form = writing(world)
        files = [a_file(), a_file("Karte für Zoë.png", b"\x89PNG\r\n\x1a\n", "image/png")]
        answer = send(client, form, **TYPED, **WHO, files=files)
        assert answer.status_code == 303
        assert [(name, kind) for name, kind, _ in attached(world)] == [
            ("offers.pdf", "application/pdf"),
            ("Karte für Zoë.png", "image/png"),
        ]
        assert "offers.pdf" in Read(client.get(answer["Location"]))

    def test_they_can_be_attached_first_looked_at_and_taken_off(self, world: World) -> None:
        client, form = writing(world)
        first = send(
            client, form, **TYPED, **WHO, files=[a_file(), a_file("old.pdf", b"%PDF-1.4")], do="attach"
        )
        page = Read(first)
        assert page.status == 200 and nothing_made(world)
        assert "offers.pdf application/pdf, 15 bytes" in page and "This is missing" not in page
        again = after(first)
        assert again.texts["text"].strip() == TYPED["text"]
        assert again.fields["name"] == ["Spring offers"] and len(again.fields["attach"]) == 2
        again.fields["attach"] = again.fields["attach"][:1]
        send(client, again, **TYPED, **WHO)
        assert [name for name, *_ in attached(world)] == ["offers.pdf"]

    def test_a_form_that_is_half_empty_may_still_attach(self, world: World) -> None:
        client, form = writing(world)
        answer = send(client, form, files=[a_file()], do="attach")
        assert answer.status_code == 200 and after(answer).fields["attach"]

    def test_an_invalid_form_keeps_them_and_asks_for_none_again(self, world: World) -> None:
        client, form = writing(world)
        answer = send(client, form, **{**TYPED, "sender": "nobody"}, **WHO, files=[a_file()])
        assert answer.status_code == 422 and nothing_made(world)
        again = after(answer)
        assert len(again.fields["attach"]) == 1
        assert send(client, again, **TYPED, **WHO).status_code == 303
        assert [name for name, *_ in attached(world)] == ["offers.pdf"]

    def test_what_was_unticked_stays_in_the_list_of_a_form_that_comes_back(self, world: World) -> None:
        client, form = writing(world)
        again = after(send(client, form, **TYPED, **WHO, files=[a_file()], do="attach"))
        again.fields.pop("attach")
        answer = send(client, again, **{**TYPED, "name": ""}, **WHO)
        third = after(answer)
        assert "attach" not in third.fields and len(third.ticks["attach"]) == 1
        assert "offers.pdf" in Read(answer)
        send(client, third, **TYPED, **WHO, attach=third.ticks["attach"])
        assert len(attached(world)) == 1

    def test_the_same_file_twice_is_attached_once_and_a_second_name_is_a_second_file(
        self, world: World
    ) -> None:
        client, form = writing(world)
        again = after(send(client, form, files=[a_file(), a_file()], do="attach"))
        send(client, again, **TYPED, **WHO, files=[a_file(), a_file("copy.pdf")])
        assert sorted(name for name, *_ in attached(world)) == ["copy.pdf", "offers.pdf"]
        assert world.read(Attachment.objects.count) == 1

    def test_a_double_click_proposes_once(self, world: World) -> None:
        client, form = writing(world)
        given = [send(client, form, **TYPED, **WHO, files=[a_file()]).status_code for _ in range(2)]
        assert given == [303, 303] and world.read(Campaign.objects.count) == 1
        assert len(versions(world)) == 1

    @pytest.mark.parametrize(
        ("file", "said"),
        [
            (
                a_file("mail.eml", b"x", "message/rfc822"),
                "“mail.eml”: A mail within a mail cannot be attached.",
            ),
            (a_file("empty.txt", b"", "text/plain"), "“empty.txt”: The file is empty."),
            (a_file("x.pdf.", b"x"), "“x.pdf.”: The name begins or ends with a space, or ends with a dot"),
            (a_file("x" * 200 + ".pdf", b"x"), "Keep the file's name under 150 characters"),
            (a_file("a.txt", b"x", "no type"), "“a.txt”: Write the type as type/subtype"),
        ],
        ids=lambda given: getattr(given, "name", "")[:12],
    )
    def test_what_cannot_be_attached_is_told_by_name_and_nothing_is_proposed(
        self, world: World, file: Any, said: str
    ) -> None:
        client, form = writing(world)
        file.seek(0)
        answer = send(client, form, **TYPED, **WHO, files=[a_file(), file])
        page = Read(answer)
        assert (page.status, said in page) == (422, True), page.text
        assert nothing_made(world)
        assert len(after(answer).fields["attach"]) == 1, "the good one is kept"

    def test_a_type_that_the_browser_does_not_know_is_bytes(self, world: World) -> None:
        client, form = writing(world)
        send(client, form, **TYPED, **WHO, files=[a_file("data.zzz", b"x", "")])
        assert attached(world)[0][1] == "application/octet-stream"

    def test_one_that_is_too_big_is_passed_over_and_all_else_is_kept(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(uploads, "MOST_BYTES", 1_000)
        client, form = writing(world)
        big = a_file("big.bin", b"x" * 200_000)
        answer = send(client, form, **TYPED, **WHO, files=[a_file(), big, a_file("z.pdf", b"%PDF z")])
        page = Read(answer)
        assert page.status == 422 and "“big.bin” is larger than 10 MB. Make it smaller" in page
        again = after(answer)
        assert again.fields["name"] == ["Spring offers"] and len(again.fields["attach"]) == 2
        assert nothing_made(world)

    def test_a_form_far_beyond_every_limit_takes_no_file_and_says_so(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(uploads, "MOST_PASSED_OVER", 50_000)
        client, form = writing(world)
        answer = send(client, form, **TYPED, **WHO, files=[a_file("big.bin", b"x" * 60_000)])
        assert answer.status_code == 422 and "far too big to be attached" in Read(answer)
        assert world.read(Attachment.objects.count) == 0 and nothing_made(world)

    def test_more_than_ten_or_too_much_together_is_told_before_anything_is_proposed(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        client, form = writing(world)
        many = [a_file(f"{number}.txt", str(number).encode(), "text/plain") for number in range(11)]
        page = Read(send(client, form, files=many, do="attach"))
        assert (
            page.status == 422
            and "These are 11 files, and up to 10 can be attached. Take the tick off" in page
        )
        monkeypatch.setattr("dashboard.views.attaching.MOST_TOGETHER", 20)
        page = Read(send(client, form, **TYPED, **WHO, files=[a_file(), a_file("b.pdf", b"%PDF-1.7 more")]))
        assert page.status == 422 and "Together the files are larger than 0 MB. Take the tick off" in page
        assert nothing_made(world)

    @pytest.mark.parametrize(
        "value",
        [
            f"{'0' * 64} application/pdf x.pdf", "nonsense", f"{'0' * 64} application/pdf", "", "a  b",
            "a\0b text/plain x.txt",
        ],
    )  # fmt: skip
    def test_a_file_that_nobody_sent_cannot_be_named(self, world: World, value: str) -> None:
        client, form = writing(world)
        answer = send(client, form, **TYPED, **WHO, attach=[value], listed=[value])
        if value.endswith("x.pdf"):
            assert answer.status_code == 422
            assert "“x.pdf” is not kept here, so it cannot be attached. Choose the file once more." in Read(
                answer
            )
        assert world.read(VersionAttachment.objects.count) == 0

    def test_a_file_of_another_workspace_is_not_there(self, world: World) -> None:
        client, form = writing(World.create("elsewhere"))
        [value] = after(send(client, form, files=[a_file()], do="attach")).fields["attach"]
        client, form = writing(world)
        answer = send(client, form, **TYPED, **WHO, attach=[value], listed=[value])
        assert answer.status_code == 422 and "“offers.pdf” is not kept here" in Read(answer)
        assert nothing_made(world)

    def test_a_name_that_is_made_up_for_a_file_of_ours_is_judged_like_any_other(self, world: World) -> None:
        client, form = writing(world)
        [value] = after(send(client, form, files=[a_file()], do="attach")).fields["attach"]
        page = Read(send(client, form, **TYPED, **WHO, attach=[value.replace("offers", "..%2Foffers")]))
        assert page.status == 422 and "A file's name has no “/” in it." in page
        assert nothing_made(world)

    def test_a_storage_that_is_away_loses_nothing_that_was_typed(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def away(*given: Any) -> None:
            raise ConnectionError("refused")

        monkeypatch.setattr(default_storage, "save", away)
        client, form = writing(world)
        answer = send(client, form, **TYPED, **WHO, files=[a_file()])
        assert answer.status_code == 422 and "“offers.pdf”: The storage of files does not answer now" in Read(
            answer
        )
        assert after(answer).fields["subject"] == [TYPED["subject"]]

    @pytest.mark.parametrize("role", ["manager", "admin", ""])
    def test_nobody_else_can_make_the_server_keep_a_file(
        self, world: World, role: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        taken: list[int] = []
        monkeypatch.setattr(
            "django.core.files.uploadhandler.TemporaryFileUploadHandler.receive_data_chunk",
            lambda *given: taken.append(1),
        )
        form = writing(world)[1]
        client = world.visit(role) if role else Client()
        answer = send(client, form, **TYPED, **WHO, files=[a_file()])
        assert answer.status_code == 403
        assert not taken and world.read(Attachment.objects.count) == 0


class TestAnotherVersion:
    def test_what_is_attached_is_shown_and_more_can_come(self, world: World) -> None:
        client, form = writing(world)
        send(client, form, **TYPED, **WHO, files=[a_file()])
        campaign = the_campaign(world)
        client, form, typed = revising(world, campaign)
        page = Read(client.get(world.at(f"campaigns/{campaign.id}/new-version")))
        assert "offers.pdf application/pdf, 15 bytes" in page
        answer = send(client, form, **typed, files=[a_file("more.pdf", b"%PDF more")], do="attach")
        assert answer.status_code == 200 and len(versions(world)) == 1
        again = form_of(answer, "/new-version")
        assert len(again.fields["attach"]) == 2
        assert send(client, again, **{**typed, **again.texts}).status_code == 303
        assert [name for name, *_ in attached(world, 2)] == ["offers.pdf", "more.pdf"]

    def test_attaching_on_an_older_version_says_that_another_one_is_there(self, world: World) -> None:
        campaign = world.campaign()
        client, form, typed = revising(world, campaign)
        send(client, form, **{**typed, "subject": "Theirs"})
        answer = send(client, form, **{**typed, "subject": "Mine"}, files=[a_file()], do="attach")
        page = Read(answer)
        assert "Version 2 took the place of the one you looked at, so nothing was proposed." in page
        assert form_of(answer, "/new-version").fields["subject"] == ["Mine"]
        assert len(versions(world)) == 2

    def test_a_form_that_is_not_ours_attaches_and_proposes_nothing(self, world: World) -> None:
        campaign = world.campaign()
        client, form, typed = revising(world, campaign)
        answer = send(client, form, **{**typed, "shown": "made up"}, files=[a_file()], do="attach")
        assert answer.status_code == 422 and "does not belong to the page you see" in Read(answer)

    def test_attaching_is_no_attempt_at_a_decision(self, world: World) -> None:
        campaign = world.campaign()
        client, form, typed = revising(world, campaign)
        send(client, form, **typed, files=[a_file("mail.eml", b"x", "message/rfc822")], do="attach")
        assert world.read(lambda: Decision.objects.filter(kind="refused").count()) == 0


def test_the_file_lies_under_what_it_holds(world: World) -> None:
    client, form = writing(world)
    send(client, form, files=[a_file()], do="attach")
    kept = world.read(Attachment.objects.get)
    assert default_storage.exists(name_in_storage(world.workspace.id, kept.sha256))
    assert (kept.runtime_id, kept.size, kept.looks_like) == (None, 15, "pdf")
    assert rules.MOST == 10
