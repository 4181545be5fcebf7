"""What is typed into the form of a campaign: refused with one sentence at its field, and never lost."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape

import pytest

from approvals.services import proposals as services
from tests.views.forms import form_of, send
from tests.views.of_proposals import (
    TYPED,
    a_list,
    by_hand,
    nothing_made,
    opened,
    the_campaign,
)
from tests.views.reading import Read
from tests.world import World

pytestmark = pytest.mark.usefixtures("files")


class TestWhatIsTyped:
    @pytest.mark.parametrize("field", ["name", "sender", "reply_to", "subject"])
    @pytest.mark.parametrize(
        "bad", ["\r", "\n", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\0"]
    )
    def test_F01_nothing_that_could_begin_a_line_stands_in_a_header_or_name(
        self, world: World, field: str, bad: str
    ) -> None:
        for value in (f"a@example.com{bad}Bcc: eve@example.com", f"a@example.com{bad}"):
            page = Read(by_hand(world, **{field: value}))
            assert page.status == 422
            assert re.search(r"The character U\+\w{4} is a control character or line break", page.text)
        assert nothing_made(world)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"name": ""}, "This is missing."),
            ({"name": "x" * 201}, "Keep this under 200 characters."),
            ({"purpose": "x" * 4_001}, "Keep this under 4,000 characters."),
            ({"purpose": "a\0b"}, "Null characters are not allowed."),
            ({"sender": "nobody"}, "The address has no @."),
            ({"sender": "a@example.com, b@example.com"}, "space"),
            ({"sender": "{{shop}}@example.com"}, "The address holds a merge field."),
            ({"sender": "{{ shop }} <news@example.com>"}, "The name holds a merge field."),
            ({"sender": "news@example.com" * 30}, "Keep this under 400 characters."),
            ({"reply_to": "{{shop}}@example.com"}, "The address holds a merge field."),
            ({"subject": "   "}, "This is missing."),
            ({"text": ""}, "This is missing."),
            ({"text": " \r\n "}, "This needs at least one character that is not a space."),
            ({"text": "a\0b"}, "Null characters are not allowed."),
            ({"html": "a\0b"}, "Null characters are not allowed."),
            ({"send_by": "tomorrow"}, "Write a day and a time"),
            ({"send_by": "2001-01-01T10:00"}, "This time is over."),
        ],
        ids=str,
    )
    def test_what_cannot_be_sent_is_one_sentence_at_its_field(
        self, world: World, change: dict[str, str], said: str
    ) -> None:
        answer = by_hand(world, **change)
        page = Read(answer)
        assert (page.status, said in page) == (422, True)
        assert page.html.count('role="alert"') == 1
        assert nothing_made(world)

    def test_html_of_5_mb_is_a_sentence_and_no_half_made_campaign(self, world: World) -> None:
        page = Read(by_hand(world, html="<p>" + "x" * 5_000_000))
        assert (page.status, "Keep this under 1,000,000 characters." in page) == (422, True)
        assert nothing_made(world)

    def test_nothing_that_was_typed_is_lost(self, world: World) -> None:
        typed = {
            "purpose": "A  B",
            "html": "\n<p>x</p>",
            "text": "\n\nTwo lines before",
            "subject": "{{ x }}",
        }
        answer = by_hand(world, sender="nobody", **typed)
        form = form_of(answer, "?typed=1")
        assert form.fields["subject"] == ["{{ x }}"]
        assert form.fields["sender"] == ["nobody"]
        # A browser takes away the one line end that follows the tag.
        kept = {
            name: unescape(text).removeprefix("\n").replace("\r\n", "\n") for name, text in form.texts.items()
        }
        assert [kept[name] for name in ("purpose", "text", "html")] == [
            typed[name] for name in ("purpose", "text", "html")
        ]
        assert kept["recipients"] == "ann@example.com\nbob@example.com"
        again = send(world.visit("support"), form, **{**kept, "sender": "news@example.com"})
        assert again.status_code == 303

    def test_nothing_in_the_form_cuts_off_what_is_pasted(self, world: World) -> None:
        for query in ("typed=1", f"list={a_list(world).id}"):
            page = world.visit("support").get(world.at(f"campaigns/new/?{query}")).content.decode()
            assert "maxlength" not in page

    def test_a_time_is_one_of_utc(self, world: World) -> None:
        by_hand(world, send_by="2999-05-04T13:30")
        assert the_campaign(world).send_by == datetime(2999, 5, 4, 13, 30, tzinfo=UTC)

    def test_a_form_that_is_sent_once_more_when_its_time_is_over_is_known(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        client, form = opened(world, "typed=1")
        typed = {**TYPED, "recipients": "ann@example.com", "send_by": "2001-05-04T13:30"}
        with monkeypatch.context() as then:
            then.setattr(services, "refuse_over", lambda *_, **__: None)  # when it was still to come
            assert send(client, form, **typed).status_code == 303
        answer = send(client, form, **typed)
        assert answer.status_code == 303
        assert "You already proposed this." in Read(client.get(answer["Location"]))

    def test_a_person_is_not_waited_for_as_a_clock_is(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[int] = []
        monkeypatch.setattr(services, "refuse_over", lambda *_, clocks_s: asked.append(clocks_s))
        by_hand(world, send_by="2999-05-04T13:30")
        assert asked == [0]
