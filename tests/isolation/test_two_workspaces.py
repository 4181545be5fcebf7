"""Two workspaces: what is asked, done or ordered in one never touches the other.

Every address is taken from the product itself, so one that is added later is tried too.
"""

import io
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from approvals.db.binding import bind
from approvals.exceptions import NotFound
from approvals.models import (
    Callback,
    CalledCampaign,
    Campaign,
    Dataset,
    Delivery,
    Event,
    Job,
    Member,
    Run,
    Runtime,
    Suppression,
    Token,
    User,
)
from approvals.rules.permissions import ROLES
from approvals.rules.shown import Shown
from approvals.services import callbacks, jobs, replays, runs, setup, sweep
from approvals.tasks import callbacks as tell_tasks
from approvals.tasks import propose, replay, send
from tests import house
from tests.house import ADA, OPERATOR, House

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "ingest"])


@pytest.fixture
def alpha(transactional_db: None) -> House:
    del transactional_db
    return house.build("alpha")


@pytest.fixture
def beta(alpha: House) -> House:
    del alpha  # the older of the two
    return house.build("beta")


def rows_of(home: House) -> dict[str, Any]:
    """What could have been changed in a house."""
    with bind(home.workspace), transaction.atomic():
        return {
            "runs": list(Run.objects.order_by("id").values_list("id", "status", "dismissed_at")),
            "events": Event.objects.count(),
            "jobs": list(Job.objects.order_by("id").values_list("id", "status", "fence")),
            "campaigns": list(Campaign.objects.order_by("id").values_list("id", "status")),
            "deliveries": list(Delivery.objects.order_by("id").values_list("id", "state")),
            "tokens": list(Token.objects.order_by("id").values_list("id", "revoked_at")),
            "members": list(Member.objects.order_by("id").values_list("id", "roles")),
            "runtimes": Runtime.objects.count(),
            "datasets": list(Dataset.objects.order_by("id").values_list("id", "notice", "fence")),
            "called": list(CalledCampaign.objects.order_by("id").values_list("id", "state")),
            "callbacks": list(Callback.objects.order_by("id").values_list("id", "status", "fence")),
            "suppressed": list(Suppression.objects.order_by("id").values_list("id", "released_at")),
        }


@pytest.fixture
def untouched(beta: House) -> Iterator[House]:
    """Beta, which is the same before and after."""
    before = rows_of(beta)
    yield beta
    assert rows_of(beta) == before


@pytest.fixture
def client(alpha: House) -> Client:
    """A member of alpha who has every role there."""
    with bind(alpha.workspace), transaction.atomic():
        Member.objects.filter(id=alpha.member).update(roles=list(ROLES))
    client = Client()
    client.force_login(User.objects.get(id=alpha.user))
    return client


def addresses(patterns: list[URLPattern | URLResolver] | None = None, before: str = "/") -> Iterator[str]:
    """Every address, with its converters: /w/<slug:slug>/decisions/<uuid:decision_id>/."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        here = before + str(pattern.pattern).removeprefix("^").removesuffix("$")
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, here)
        else:
            yield here


PAGES = [address for address in addresses() if address.startswith("/w/<slug:slug>/")]
MACHINE = [address for address in addresses() if address.startswith("/api/") and "<uuid" in address]


def filled(address: str, slug: str, id: object) -> str:
    """With this workspace and this id in it, or any word where another kind of text stands."""
    address = address.replace("<slug:slug>", slug)
    return re.sub(r"<\w+:\w+>", "x", re.sub(r"<uuid:\w+>", str(id), address))


def ids_of(home: House) -> dict[str, UUID]:
    return {name: value for name, value in home.named().items() if isinstance(value, UUID)}


class TestPages:
    def test_there_are_some(self) -> None:
        assert len(PAGES) >= 5

    @pytest.mark.parametrize("method", ["get", "post"])
    def test_a_workspace_that_one_does_not_belong_to_is_not_there(
        self, client: Client, untouched: House, method: str
    ) -> None:
        for address in PAGES:
            for id in ids_of(untouched).values():
                answer = getattr(client, method)(filled(address, untouched.slug, id))
                assert answer.status_code == 404, address

    @pytest.mark.parametrize("method", ["get", "post"])
    def test_ids_of_another_workspace_are_not_there(
        self, client: Client, alpha: House, untouched: House, method: str
    ) -> None:
        for address in PAGES:
            if "<uuid" not in address:
                continue
            for name, id in ids_of(untouched).items():
                answer = getattr(client, method)(filled(address, alpha.slug, id))
                assert answer.status_code in (404, 405), (address, name)

    def test_no_page_shows_anything_of_another_workspace(
        self, client: Client, alpha: House, untouched: House
    ) -> None:
        theirs = [str(id) for id in ids_of(untouched).values()] + [untouched.slug]
        asked = (
            "",
            "?subject=customer-1",
            "?q=customer",
            "?tab=history",
            "?q=spring&tab=decide",
            "?agent=helper",
        )
        shown = 0
        for address in PAGES:
            if "<uuid" in address:
                continue
            for query in asked:
                answer = client.get(filled(address, alpha.slug, "") + query)
                text = answer.getvalue().decode()  # a page, or a file that is streamed
                assert not [word for word in theirs if word in text], (address, query)
                shown += answer.status_code == 200
        assert shown >= 10


class TestMachineApi:
    def ask(self, alpha: House, method: str, address: str, body: str = "") -> Any:
        return Client().generic(
            method,
            address,
            body,
            content_type="application/json",
            headers={"Authorization": f"Bearer {alpha.token_text}"},
        )

    def test_there_are_some(self) -> None:
        assert len(MACHINE) >= 4

    def test_ids_of_another_workspace_are_the_same_404_as_unknown_ones(
        self, alpha: House, untouched: House
    ) -> None:
        bodies = {
            "GET": None,
            "POST": '{"events": [{"seq": 1, "type": "heartbeat", "at": "2026-05-04T13:30:00Z"}]}',
        }
        for address in MACHINE:
            for method, body in bodies.items():
                unknown = self.ask(alpha, method, filled(address, "", UUID(int=1)), body)
                for name, id in ids_of(untouched).items():
                    answer = self.ask(alpha, method, filled(address, "", id), body)
                    assert (answer.status_code, answer.json()) == (unknown.status_code, unknown.json()), (
                        address,
                        name,
                    )
                    assert answer.status_code in (404, 405, 422), (address, name)

    def test_lists_hold_nothing_of_another_workspace(self, alpha: House, untouched: House) -> None:
        answer = self.ask(alpha, "GET", "/api/v1/runs?subject=customer-1")
        assert [run["id"] for run in answer.json()["runs"]] == [str(alpha.run)]
        assert str(untouched.run) not in answer.content.decode()


class TestTasks:
    def test_a_wake_up_with_the_wrong_workspace_takes_nothing(self, alpha: House, untouched: House) -> None:
        for task in (replay.execute, send.execute):
            task(str(untouched.job), workspace=str(alpha.workspace))
        propose.execute(str(untouched.called_run), workspace=str(alpha.workspace))
        tell_tasks.execute(str(untouched.callback), workspace=str(alpha.workspace))

    def test_a_task_without_a_workspace_does_not_begin(self, untouched: House) -> None:
        with pytest.raises(TypeError, match="workspace"):
            send.execute(str(untouched.job))

    @pytest.mark.parametrize("what", ["release", "lease", "follow", "silent", "overlong"])
    def test_a_step_of_the_clock_with_the_wrong_workspace_does_nothing(
        self, what: str, alpha: House, untouched: House
    ) -> None:
        id = untouched.open_run if what in ("silent", "overlong") else untouched.job
        sweep.step(sweep.Due(what, alpha.workspace, id, "send", 0))

    def test_the_clock_tells_the_workspace_of_each_thing(self, alpha: House, untouched: House) -> None:
        due = {(item.workspace_id, item.id) for item in sweep.due(at_most=10) if item.what == "wake"}
        homes = (alpha, untouched)
        assert due == {(home.workspace, id) for home in homes for id in (home.job, home.called_run)}


SHOWN = Shown("0" * 64, datetime.now(UTC))
SERVICES: dict[str, Callable[[House], object]] = {
    "declare a run interrupted": lambda theirs: runs.declare_interrupted(
        by=ADA, run_id=theirs.open_run, shown=SHOWN, reason="it looks quite dead"
    ),
    "dismiss a run": lambda theirs: runs.dismiss(
        by=ADA, run_id=theirs.run, shown=SHOWN, reason="nothing to be done"
    ),
    "resolve a call": lambda theirs: runs.resolve_call(
        by=ADA,
        run_id=theirs.run,
        shown=SHOWN,
        call_id="c1",
        resolution="happened",
        reason="the customer has it",
    ),
    "take a replay back": lambda theirs: replays.cancel(by=ADA, job_id=theirs.job, shown=SHOWN),
    "have an agent told again": lambda theirs: callbacks.tell_again(
        by=ADA, campaign_id=theirs.sent_campaign, shown=SHOWN
    ),
    "revoke a token": lambda theirs: setup.revoke_token(by=OPERATOR, token=str(theirs.token)),
}


class TestServices:
    @pytest.mark.parametrize("service", SERVICES)
    def test_in_another_workspace_nobody_can(self, service: str, alpha: House, untouched: House) -> None:
        with bind(alpha.workspace), pytest.raises(NotFound), transaction.atomic():
            SERVICES[service](untouched)

    def test_a_job_of_another_workspace_cannot_be_claimed(self, alpha: House, untouched: House) -> None:
        with bind(alpha.workspace):
            assert jobs.claim(job_id=untouched.job, task_id="x") is None
            assert callbacks.claim(callback_id=untouched.callback) is None


class TestCommands:
    def test_a_runtime_is_looked_for_in_the_named_workspace(self, alpha: House, untouched: House) -> None:
        del untouched
        with bind(alpha.workspace):
            setup.add_runtime(by=OPERATOR, name="only here", base_url="http://x.example")
        with pytest.raises(CommandError, match='There is no runtime "only here"'):
            call_command("token", "create", "--workspace", "beta", "--runtime", "only here")
        url = ("--url", "http://x.example")
        with pytest.raises(CommandError, match='There is no runtime "only here"'):
            call_command("runtime", "set-callback", "--workspace", "beta", "--name", "only here", *url)

    @pytest.mark.parametrize("known_by", ["token", "token_text"])
    def test_a_token_is_revoked_in_the_named_workspace_alone(
        self, known_by: str, alpha: House, untouched: House
    ) -> None:
        word = str(getattr(untouched, known_by))
        with pytest.raises(CommandError, match="There is no token"):
            call_command("token", "revoke", "--workspace", alpha.slug, "--token", word)

    def test_what_is_set_up_is_set_up_in_the_named_workspace(self, alpha: House, untouched: House) -> None:
        before = rows_of(alpha)
        words = ("--workspace", alpha.slug, "--email", "ann@beta.example", "--roles", "support")
        call_command("member", "add", *words, stdout=io.StringIO())
        words = ("--workspace", alpha.slug, "--name", "second", "--base-url", "http://x.example")
        call_command("runtime", "add", *words, stdout=io.StringIO())
        after = rows_of(alpha)
        assert len(after["members"]) == len(before["members"]) + 1
        assert after["runtimes"] == before["runtimes"] + 1
        del untouched
