"""Approving a campaign for a later time: what a time means is said first, and then exactly that instant is approved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db.models.functions import Now

from approvals.models import Campaign, Decision, Delivery, Job, Version
from approvals.rules.permissions import why_not
from approvals.selectors.payloads import contents_of
from approvals.services import jobs as services
from approvals.tasks import base, send
from dashboard.forms.shown import pack
from tests.servers.smtp import SmtpSink
from tests.views.forms import form_of, forms_of, offered
from tests.views.forms import send as send_form
from tests.views.of_campaigns import decided, everything, follow, jobs, look, path_of, status
from tests.views.reading import Read
from tests.world import World

PARIS = ZoneInfo("Europe/Paris")
WHY_NOT = why_not("approve")


def typed(at: datetime, zone: str) -> dict[str, str]:
    return {"date": f"{at:%Y-%m-%d}", "time": f"{at:%H:%M}", "zone": zone}


def ahead(**span: float) -> datetime:
    return datetime.now(UTC) + timedelta(**span)


def check(
    world: World, campaign: Campaign, role: str = "reviewer", *, client: Any = None, **asked: str
) -> Any:
    """What the page answers to this time, as a page of its own."""
    return (client or world.visit(role)).get(path_of(world, campaign, "approve-at"), asked)


def approve(world: World, campaign: Campaign, when: datetime, zone: str, **more: Any) -> Any:
    """Look at what the time means, and approve what the answer offers."""
    client = world.visit("reviewer")
    page = check(world, campaign, client=client, **typed(when, zone))
    return send_form(client, form_of(page, "/approve-at"), **more)


def job_of(world: World) -> Job:
    return world.read(Job.objects.get)


def given(world: World) -> dict[str, Any]:
    """The evidence of the approval."""

    def read() -> dict[str, Any]:
        entry = Decision.objects.get(kind="approve")
        return contents_of([entry.payload_id])[entry.payload_id]

    return world.read(read)


def next_change(*, forward: bool) -> datetime:
    """A local time in Paris that the coming change of the clocks skips, or shows twice."""
    day = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
    while True:
        tomorrow = day + timedelta(days=1)
        before, after = (at.astimezone(PARIS).utcoffset() for at in (day, tomorrow))
        if before is not None and after is not None and (after > before if forward else after < before):
            there = tomorrow.astimezone(PARIS)
            return datetime(there.year, there.month, there.day, 2, 30)
        day = tomorrow


class TestWhatATimeMeans:
    def test_g03_it_is_said_in_words_and_in_utc(self, world: World) -> None:
        at = ahead(days=3)
        there = at.astimezone(ZoneInfo("Australia/Brisbane"))
        page = Read(check(world, world.campaign(), **typed(there, "australia/brisbane")))
        assert page.status == 200
        said = f"{there:%A} {there.day} {there:%B %Y %H:%M} (Brisbane, UTC+10) is "
        assert said in page
        assert f"{at:%H:%M} UTC, in 2 days 23 hours. Until then it can be taken back." in page

    def test_looking_decides_nothing(self, world: World) -> None:
        campaign = world.campaign()
        before = everything(world)
        for asked in (typed(ahead(days=1), "UTC"), {"at": ahead(days=1).isoformat(), "zone": "UTC"}, {}):
            assert check(world, campaign, **asked).status_code == 200
        assert (everything(world), status(world, campaign)) == (before, "pending")

    @pytest.mark.parametrize(
        ("asked", "sentence"),
        [
            ({"date": ""}, "Choose a date."),
            ({"date": "2026-02-30"}, "There is no 2026-02-30 in the calendar; choose another day."),
            ({"date": "9999-12-31"}, "This date is out of reach; choose one within a year from now."),
            ({"time": "24:00"}, "There is no 24:00: the end of"),
            ({"time": "<b>"}, "Write the time as hours and minutes, such as 09:00 or 17:30."),
            ({"zone": "Sydney"}, "There is no time zone of this name. Did you mean Australia/Sydney?"),
            ({"zone": "x" * 9_000}, "There is no time zone of this name. Choose one from the list"),
            ({"zone": ""}, "Choose a time zone, such as Europe/Paris, UTC or +10:00."),
        ],
    )
    def test_what_is_no_time_is_a_sentence_beside_its_field(
        self, world: World, asked: dict[str, str], sentence: str
    ) -> None:
        answered = check(world, world.campaign(), **{**typed(ahead(days=1), "UTC"), **asked})
        assert answered.status_code == 200
        assert sentence in Read(answered)
        assert 'aria-invalid="true"' in answered.content.decode()
        assert "approve-at" not in offered(answered)

    @pytest.mark.parametrize(
        ("span", "sentence"),
        [
            ({"minutes": -42}, "This time has passed. Choose a later one, or approve it now."),
            ({"minutes": 3}, "Every approval is held for 600 seconds, so that it can be taken back, and this is"),
            ({"days": 400}, "This is more than a year ahead. Choose a time within a year."),
            ({"days": 9}, "by which it has to be sent, as whoever proposed it said. Choose an earlier time."),
        ],
    )  # fmt: skip
    def test_a_time_at_which_it_cannot_go_out_is_a_sentence(
        self, db: None, span: dict[str, int], sentence: str
    ) -> None:
        world = World.create(hold_s=600)
        send_by = ahead(days=7) if span == {"days": 9} else None
        answered = check(world, world.campaign(send_by=send_by), **typed(ahead(**span), "UTC"))
        assert sentence in Read(answered)
        assert "approve-at" not in offered(answered)

    def test_g01_a_time_that_the_clock_skips_is_shown_as_two_to_choose_from(self, world: World) -> None:
        campaign = world.campaign()
        skipped = next_change(forward=True)
        client = world.visit("reviewer")
        page = check(world, campaign, client=client, **typed(skipped, "Europe/Paris"))
        assert "02:30 in Paris: the clocks are put forward, past it. Choose what you mean." in Read(page)
        form = form_of(page, "/approve-at")
        before, after = form.ticks["at"]
        assert "03:30 (UTC+2)" in Read(page) and "01:30 (UTC+1)" in Read(page)

        again = Read(send_form(client, form))
        assert again.status == 422
        assert "Choose the time at which it goes out, and look at what that means first." in again
        assert "Choose what you mean." in again
        assert jobs(world) == []

        follow(world, send_form(client, form, at=after))
        assert job_of(world).due_at == skipped.replace(hour=1, tzinfo=UTC)
        assert before != after
        assert given(world)["local"].endswith("03:30 (UTC+2)")

    @pytest.mark.parametrize(("place", "hour", "offset"), [(0, 0, "UTC+2"), (1, 1, "UTC+1")])
    def test_g01_a_time_that_the_clock_shows_twice_is_chosen(
        self, world: World, place: int, hour: int, offset: str
    ) -> None:
        twice = next_change(forward=False)
        client = world.visit("reviewer")
        page = check(world, world.campaign(), client=client, **typed(twice, "Europe/Paris"))
        assert (
            "comes twice in Paris: the clocks are put back after the first time. Choose which one you mean."
            in Read(page)
        )
        form = form_of(page, "/approve-at")
        follow(world, send_form(client, form, at=form.ticks["at"][place]))
        assert job_of(world).due_at == twice.replace(hour=hour, tzinfo=UTC)
        assert given(world)["local"].endswith(f"02:30 ({offset})")

    def test_whoever_may_not_approve_is_told_so(self, world: World) -> None:
        answered = check(world, world.campaign(), "support", **typed(ahead(days=1), "UTC"))
        assert WHY_NOT in Read(answered)
        assert "approve-at" not in offered(answered)


class TestTheFragment:
    """The page stays open, and what is approved is what it showed."""

    def ask(self, world: World, campaign: Campaign, client: Any, page: Any, **asked: str) -> Any:
        token = form_of(page, "/approve").fields["shown"][0]
        return client.get(
            path_of(world, campaign, "approve-at"),
            {**typed(ahead(days=1), "UTC"), "shown": token, **asked},
            headers={"HX-Request": "true", "HX-Target": "later"},
        )

    def test_it_brings_the_form_that_approves_and_is_bound_to_the_page(self, world: World) -> None:
        campaign, client = world.campaign(), world.visit("reviewer")
        page = client.get(path_of(world, campaign))
        fragment = self.ask(world, campaign, client, page)
        assert "<html" not in fragment.content.decode()
        [form] = forms_of(fragment)
        assert form.fields["shown"] == form_of(page, "/approve").fields["shown"]
        assert send_form(client, form).status_code == 303
        assert (decided(world), jobs(world)) == (["approve"], ["held"])

    def test_once_somebody_decided_it_says_so_and_brings_no_form(self, world: World) -> None:
        campaign, client = world.campaign(), world.visit("reviewer")
        page = client.get(path_of(world, campaign))
        world.rejected(campaign)
        fragment = self.ask(world, campaign, client, page)
        assert "This campaign changed after you opened the page. Reload it to decide" in Read(fragment)
        assert forms_of(fragment) == []

    @pytest.mark.parametrize("shown", ["", "x", "digest of another version"])
    def test_what_the_page_did_not_show_is_not_approved_through_it(self, world: World, shown: str) -> None:
        campaign, client = world.campaign(), world.visit("reviewer")
        page = client.get(path_of(world, campaign))
        if shown.startswith("digest"):
            shown = pack(target=campaign.id, user_id=str(world.people["reviewer"].pk), digest="0" * 64)
        assert forms_of(self.ask(world, campaign, client, page, shown=shown)) == []


class TestApprovingForLater:
    def test_g06_nothing_leaves_before_its_time_and_everything_after_it(
        self, world: World, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(base, "close_old_connections", lambda: None)  # the test's own transaction is open
        campaign = world.campaign()
        page = follow(world, approve(world, campaign, ahead(days=1), "UTC"))
        assert "Approved. It goes out on" in page and "in 23 hours 5" in page
        job = job_of(world)
        with SmtpSink() as sink:
            settings.SMTP = {**settings.SMTP, "host": "127.0.0.1", "port": sink.port}
            assert not world.read(lambda: services.release(job_id=job.id))
            self.woken(world, job)
            assert (sink.accepted, jobs(world), status(world, campaign)) == ([], ["held"], "approved")

            world.read(lambda: Job.objects.update(due_at=Now()))
            assert world.read(lambda: services.release(job_id=job.id))
            self.woken(world, job)
            assert len(sink.wait_for(2)) == 2
        assert status(world, campaign) == "finished"

    def woken(self, world: World, job: Job) -> None:
        """The worker runs within the test's transaction, which is bound for it."""
        with world.bound():
            send.execute(str(job.id), workspace=str(world.workspace.id))

    def test_the_log_tells_the_instant_the_zone_and_what_the_clock_showed(self, world: World) -> None:
        at = ahead(days=2).replace(second=0, microsecond=0)
        there = at.astimezone(ZoneInfo("Asia/Kathmandu"))
        approve(world, world.campaign(), there, "Asia/Kathmandu")
        assert {name: given(world)[name] for name in ("at", "zone", "local")} == {
            "at": at.isoformat(),
            "zone": "Asia/Kathmandu",
            "local": f"{there:%Y-%m-%d %H:%M} (UTC+5:45)",
        }
        entry = world.read(lambda: Decision.objects.get(kind="approve"))
        page = Read(world.visit("manager").get(world.at(f"decisions/{entry.id}/")))
        assert f"Goes out at {there:%Y-%m-%d %H:%M} (UTC+5:45)" in page

    def test_until_then_it_says_when_and_can_be_taken_back(self, world: World) -> None:
        campaign = world.campaign()
        there = ahead(days=2).astimezone(PARIS)
        approve(world, campaign, there, "Europe/Paris")
        page = look(world, campaign)
        assert f"Goes out on {there:%A} {there.day} {there:%B %Y %H:%M} (Paris, UTC+" in page
        assert "in 1 day 23 hours; it can be taken back until then." in page
        in_utc = there.astimezone(UTC)
        assert page.text.count(f"Goes out {in_utc.day} {in_utc:%B %Y, %H:%M} UTC") == 2, (
            "the head and the sending"
        )
        assert "Approved, not started" not in page
        client = world.visit("reviewer")
        back = send_form(client, form_of(client.get(path_of(world, campaign)), "/take-back"))
        assert "Taken back. Nothing was sent" in follow(world, back)
        assert (status(world, campaign), jobs(world)) == ("pending", ["cancelled"])

    def test_the_zone_is_remembered(self, world: World) -> None:
        client = world.visit("reviewer")
        first = world.campaign()
        assert 'data-guess="zone"' in client.get(path_of(world, first)).content.decode()
        page = check(world, first, client=client, **typed(ahead(days=2), "Australia/Sydney"))
        send_form(client, form_of(page, "/approve-at"))
        shown = client.get(path_of(world, world.campaign("Spring schedule"))).content.decode()
        assert 'name="zone" value="Australia/Sydney"' in shown
        assert "data-guess" not in shown

    def test_a_cookie_that_names_no_zone_is_none(self, world: World) -> None:
        client = world.visit("reviewer")
        client.cookies["zone"] = '"><script>'
        assert 'name="zone" value="UTC"' in client.get(path_of(world, world.campaign())).content.decode()

    def test_who_clicks_twice_is_told_that_nothing_happened_twice(self, world: World) -> None:
        campaign, client = world.campaign(), world.visit("reviewer")
        form = form_of(check(world, campaign, client=client, **typed(ahead(days=1), "UTC")), "/approve-at")
        for _ in range(2):
            page = follow(world, send_form(client, form))
        assert "You already approved this campaign. Nothing happened twice." in page
        assert (decided(world), jobs(world)) == (["approve"], ["held"])

    def test_another_content_than_the_one_shown_is_not_approved(self, world: World) -> None:
        campaign = world.campaign()
        shown = pack(target=campaign.id, user_id=str(world.people["reviewer"].pk), digest="0" * 64)
        answered = approve(world, campaign, ahead(days=1), "UTC", shown=shown)
        assert answered.status_code == 409
        assert "took the place of the one you looked at" in Read(answered)
        assert decided(world) == []

    @pytest.mark.parametrize("at", ["", "now", "2026-13-01T00:00:00Z", "9" * 9_000, None])
    def test_an_approval_without_an_instant_is_never_one_for_now(self, world: World, at: str | None) -> None:
        campaign = world.campaign()
        answered = approve(world, campaign, ahead(days=1), "UTC", at=[] if at is None else at)
        assert answered.status_code == 422
        assert "Choose the time at which it goes out, and look at what that means first." in Read(answered)
        assert (decided(world), jobs(world), status(world, campaign)) == ([], [], "pending")

    def test_what_passed_meanwhile_is_a_sentence_and_the_time_stands_there_still(self, world: World) -> None:
        campaign = world.campaign()
        gone = ahead(minutes=-1)
        answered = approve(world, campaign, ahead(days=1), "+10:00", at=gone.isoformat())
        assert answered.status_code == 422
        assert "This time has passed. Choose a later one, or approve it now." in Read(answered)
        there = gone + timedelta(hours=10)
        assert f'type="time" name="time" value="{there:%H:%M}"' in answered.content.decode()
        assert decided(world) == []

    def test_a_campaign_that_nobody_can_get_is_not_approved_for_later_either(self, world: World) -> None:
        campaign = world.campaign(recipients=["no address"])
        assert "approve-at" not in offered(check(world, campaign, **typed(ahead(days=1), "UTC")))
        digest = world.read(lambda: Version.objects.get(campaign_id=campaign.id).digest)
        shown = pack(target=campaign.id, user_id=str(world.people["reviewer"].pk), digest=digest)
        answered = world.visit("reviewer").post(
            path_of(world, campaign, "approve-at"),
            {"shown": shown, "at": ahead(days=1).isoformat(), "zone": "UTC"},
        )
        assert answered.status_code == 409
        assert world.read(lambda: Delivery.objects.filter(campaign_id=campaign.id).count()) == 0
