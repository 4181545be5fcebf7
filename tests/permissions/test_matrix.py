"""Every address with every kind of caller: who is let in, who is told why not, and who sees that there is nothing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from approvals.db.binding import bind
from approvals.models import Dataset, Decision, Job, Suppression, VersionAttachment
from approvals.services import deliveries, setup
from approvals.services.health import Readiness
from dashboard.embedded import mailbox
from dashboard.forms.shown import pack
from dashboard.views import health
from tests import factories
from tests.house import OPERATOR
from tests.permissions.addresses import (
    ANONYMOUS,
    API,
    API_OPEN,
    CALLERS,
    ELSEWHERE,
    IN_A_WORKSPACE,
    NOT_YOURS,
    STRANGER,
    Address,
    path_of,
    routes,
)
from tests.world import World, call, signed_in, stranger

LISTED = {*(address.route for address in IN_A_WORKSPACE), *ELSEWHERE, *API, *API_OPEN}


@dataclass
class Scene:
    """A world with one of everything that an address can be about."""

    world: World
    things: dict[str, UUID]

    @classmethod
    def create(cls, name: str) -> "Scene":
        world = World.create(name)
        started = world.forced(world.run("replayed", call("c1", "send_email")))
        campaign = world.campaign("Winter", ["ann@example.com"])
        world.approved(campaign)
        delivery = world.sent(campaign, "in_doubt")[0]
        again = world.campaign("Again", ["ann@example.com"])
        world.approved(again)
        failed = world.sent(again, "failed")[0]
        with bind(world.workspace.id):
            deliveries.resolve(
                by=world.actor("reviewer"), delivery_id=failed.id, shown=world.shown(again), resolution="do_again",
                reason="The box was full before.",
            )  # fmt: skip
        with bind(world.workspace.id):
            runtime = setup.add_runtime(
                by=OPERATOR, name="store", kind="adk", base_url="http://127.0.0.1:9",
                database_url="postgresql://reader@127.0.0.1:9/sessions",
            ).runtime  # fmt: skip
        with world.bound():
            dataset = Dataset.objects.create(
                workspace_id=world.workspace.id, name="list.csv", sha256="0" * 64, size=1, encoding="utf-8",
                delimiter=",", columns=["email"], address_column="email", by_name="Mia",
            )  # fmt: skip
            suppression = Suppression.objects.create(
                workspace_id=world.workspace.id, dedupe_key="gone@example.com", reason="by_hand"
            )
        with bind(world.workspace.id):
            sent_along = factories.campaign(files=[("terms.txt", "text/plain", b"Terms.")])
        attached = world.read(lambda: VersionAttachment.objects.get(version__campaign_id=sent_along.id))
        things = {
            "sent_along": sent_along.id,
            "attached": attached.id,
            "": world.workspace.id,  # for what is about the workspace as a whole
            "runtime": runtime.id,
            "dataset": dataset.id,
            "suppression": suppression.id,
            "send_job": world.read(lambda: Job.objects.get(campaign_id=campaign.id)).id,
            "again_job": world.read(lambda: Job.objects.get(delivery_id=failed.id)).id,
            "run": world.run("refund-1", call("c1", "send_email")).id,
            "job": started.job.id,
            "decision": started.decision.id,
            "campaign": campaign.id,
            "delivery": delivery.id,
        }
        return cls(world, things)

    def path(self, address: Address, things: dict[str, UUID] | None = None) -> str:
        """The path of an address, about this scene's things or others."""
        ids = {**self.things, **(things or {})}
        within = any(part in address.route for part in ("/message/", "/attachments/"))
        campaign = ids["sent_along" if address.about == "attached" else "campaign"]
        named = [campaign, ids[address.about]] if within else [ids.get(address.about, "")]
        return path_of(address.route, self.world.workspace.slug, *named) + address.query

    def form(self, address: Address, caller: str) -> dict[str, str]:
        """What the page's form sends, for something that has changed since; so nobody really decides."""
        if caller in (ANONYMOUS, STRANGER):
            return {}
        user = self.world.people[caller]
        shown = pack(target=self.things[address.about], user_id=str(user.pk), digest="changed")
        return {"shown": shown, **address.form}


@pytest.fixture
def scene(db: None, settings: Any, tmp_path: Path) -> Scene:
    settings.MEDIA_ROOT = tmp_path
    return Scene.create("Northwind")


def caller_of(world: World, caller: str) -> Client:
    if caller == ANONYMOUS:
        return Client()
    return signed_in(stranger()) if caller == STRANGER else world.visit(caller)


def test_every_address_is_listed() -> None:
    """Add a new address to tests/permissions/addresses.py, with what each caller is answered."""
    assert routes() - LISTED == set()


def test_every_listed_address_is_there() -> None:
    assert LISTED - routes() == set()


@pytest.mark.parametrize("address", IN_A_WORKSPACE, ids=lambda address: address.route)
class TestInAWorkspace:
    def test_reading(self, scene: Scene, address: Address) -> None:
        for caller in CALLERS:
            answered = caller_of(scene.world, caller).get(scene.path(address)).status_code
            assert answered in address.get(caller), caller

    def test_deciding(self, scene: Scene, address: Address) -> None:
        for caller in CALLERS:
            form = scene.form(address, caller) if address.decides else {}
            answered = caller_of(scene.world, caller).post(scene.path(address), form).status_code
            assert answered in address.post(caller), caller

    def test_who_may_not_decide_is_in_the_log_for_having_tried(self, scene: Scene, address: Address) -> None:
        """A view that decides and is not made with `dashboard.views.deciding.deciding` fails here."""
        if not address.decides:
            pytest.skip("Nothing is decided there.")
        refused = [caller for caller in scene.world.people if address.post(caller) == NOT_YOURS]
        assert refused
        for caller in refused:
            scene.world.visit(caller).post(scene.path(address), scene.form(address, caller))
        [*entries] = scene.world.read(lambda: list(Decision.objects.filter(kind="refused").order_by("seq")))
        assert [(entry.actor_roles, entry.target_id) for entry in entries] == [
            ([caller], scene.things[address.about]) for caller in refused
        ]

    def test_things_of_another_workspace_look_like_none(self, scene: Scene, address: Address) -> None:
        if not address.about:
            pytest.skip("It is about the workspace as a whole.")
        other = Scene.create("Harbour")
        theirs, none = other.things, dict.fromkeys(scene.things, uuid4())
        method = "get" if address.reads else "post"
        for caller in scene.world.people:
            client = scene.world.visit(caller)
            form = scene.form(address, caller) if address.decides else {}
            there = getattr(client, method)(scene.path(address, theirs), form)
            nowhere = getattr(client, method)(scene.path(address, none), form)
            assert (there.status_code, nowhere.status_code) == (404, 404), caller

    def test_a_member_of_another_workspace_sees_nothing(self, scene: Scene, address: Address) -> None:
        other = World.create("Harbour")
        for role in other.people:
            client = other.visit(role)
            assert client.get(scene.path(address)).status_code == 404
            assert client.post(scene.path(address)).status_code == 404

    def test_other_methods_do_nothing(self, scene: Scene, address: Address) -> None:
        client = scene.world.visit("support")
        for method in ("put", "patch", "delete"):
            assert getattr(client, method)(scene.path(address)).status_code == 405


@pytest.fixture
def caught(tmp_path: Path, settings: Any) -> str:
    settings.MAIL_CATCHER_DIR = str(tmp_path)
    return mailbox.store(tmp_path, "a@example.com", ["b@example.com"], b"Subject: Hello\r\n\r\nDear Ann")


@pytest.fixture
def not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "readiness", lambda: Readiness(["No worker is there."]))


@pytest.mark.usefixtures("not_ready")
@pytest.mark.parametrize("route", ELSEWHERE)
def test_outside_of_any_workspace(scene: Scene, caught: str, route: str) -> None:
    path = path_of(route).replace("<name>", caught)
    gets, posts = ELSEWHERE[route]
    for place, caller in enumerate((ANONYMOUS, STRANGER, "support")):
        assert caller_of(scene.world, caller).get(path).status_code == gets[place], f"GET {caller}"
        assert caller_of(scene.world, caller).post(path).status_code == posts[place], f"POST {caller}"


@pytest.mark.parametrize("route", API)
def test_the_machine_api_knows_tokens_and_no_people(scene: Scene, route: str) -> None:
    path = path_of(route, "", scene.things["run"])
    for caller in CALLERS:
        client = caller_of(scene.world, caller)
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            answered = client.generic(method, path, b"{}", content_type="application/json")
            expected = 401 if method in API[route] else 405
            assert answered.status_code == expected, f"{method} {caller}"


@pytest.mark.parametrize("route", API_OPEN)
def test_what_of_the_api_anybody_may_read(scene: Scene, route: str) -> None:
    for caller in (ANONYMOUS, "support"):
        assert caller_of(scene.world, caller).get(path_of(route)).status_code == API_OPEN[route], caller
