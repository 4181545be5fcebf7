"""Who may ask: a token, and whose things it may not even know of."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from django.db.models.functions import Now

from approvals.db.binding import bind
from approvals.models import Token
from tests.api.world import (
    Caller,
    a_call,
    a_caller,
    a_campaign,
    a_run,
    a_runtime,
    an_event,
    stored,
    the_end,
    with_subject,
)

pytestmark = pytest.mark.usefixtures("database")

ROUTES = [
    ("GET", "/runs/{run}", None),
    ("POST", "/runs/{run}/events", {"events": [an_event(9)]}),
    ("POST", "/runs/{run}/replay", None),
    ("GET", "/campaigns/{campaign}", None),
]
ALL_ROUTES = [
    ("POST", "/runs", a_run()),
    ("GET", "/runs", None),
    *ROUTES,
    ("POST", "/campaigns", a_campaign()),
]


def ask(caller: Caller, route: tuple[str, str, Any], **ids: str) -> Any:
    method, path, body = route
    ids = {"run": str(uuid4()), "campaign": str(uuid4())} | ids
    return caller.send(method, path.format(**ids), None if body is None else json.dumps(body).encode())


@pytest.fixture
def owner(caller: Caller) -> Caller:
    """Who the run and the campaign belong to."""
    return caller


@pytest.fixture
def things(owner: Caller) -> dict[str, str]:
    """A run that could start again, and a campaign."""
    run_id = owner.open_run(subject="customer-17")
    owner.report(run_id, the_end(1, "failed"))
    return {"run": run_id, "campaign": owner.post("/campaigns", a_campaign()).json["id"]}


def _of_another_workspace(owner: Caller) -> Caller:
    return a_caller(a_runtime())


def _of_another_runtime(owner: Caller) -> Caller:
    return a_caller(a_runtime(owner.workspace_id))


def _for_another_subject(owner: Caller) -> Caller:
    return with_subject(owner, "customer-18")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route[0]} {route[1]}")
@pytest.mark.parametrize("stranger", [_of_another_workspace, _of_another_runtime, _for_another_subject])
def test_what_belongs_to_others_looks_like_what_does_not_exist(
    owner: Caller, things: dict[str, str], route: Any, stranger: Any
) -> None:
    asking = stranger(owner)
    before = stored(owner.workspace_id)
    theirs, unknown = ask(asking, route, **things), ask(asking, route)
    assert theirs.problem == (404, "not_found", None)
    assert (theirs.status, theirs.json) == (unknown.status, unknown.json)
    assert dict(theirs.headers) == dict(unknown.headers)
    assert stored(owner.workspace_id) == before
    assert ask(owner, route, **things).status in (200, 202), (
        "the owner's own call shows that it could have worked"
    )


@pytest.mark.parametrize("stranger", [_of_another_workspace, _of_another_runtime, _for_another_subject])
def test_a_list_holds_nothing_of_others(owner: Caller, things: dict[str, str], stranger: Any) -> None:
    del things
    assert stranger(owner).get("/runs").json == {"runs": [], "next": None}
    assert stranger(owner).get("/runs?subject=customer-17").json == {"runs": [], "next": None}


@pytest.mark.parametrize("stranger", [_of_another_workspace, _of_another_runtime, _for_another_subject])
def test_a_campaign_cannot_cite_a_run_of_others(owner: Caller, things: dict[str, str], stranger: Any) -> None:
    answer = stranger(owner).post("/campaigns", a_campaign(run_id=things["run"]))
    assert answer.problem in ((422, "invalid", "run_id"), (403, "not_allowed", None))


def test_a_token_of_one_subject_sees_and_feeds_that_subjects_runs(
    owner: Caller, things: dict[str, str]
) -> None:
    bound = with_subject(owner, "customer-17")
    other = owner.open_run(subject="customer-18")
    assert [run["id"] for run in bound.get("/runs").json["runs"]] == [things["run"]]
    assert bound.run(things["run"])["status"] == "failed"
    assert bound.report(things["run"], a_call(2))["accepted"] == 1
    own = bound.open_run(subject="customer-17")
    assert {run["id"] for run in owner.get("/runs").json["runs"]} == {own, other, things["run"]}


def test_a_token_of_one_subject_makes_no_runs_for_another(owner: Caller) -> None:
    bound = with_subject(owner, "customer-17")
    before = stored(owner.workspace_id)
    assert bound.post("/runs", a_run(subject="customer-18")).problem == (403, "not_allowed", "subject")
    assert stored(owner.workspace_id) == before


def test_a_token_of_one_subject_neither_proposes_nor_sees_campaigns(
    owner: Caller, things: dict[str, str]
) -> None:
    bound = with_subject(owner, "customer-17")
    before = stored(owner.workspace_id)
    assert bound.post("/campaigns", a_campaign()).problem == (403, "not_allowed", None)
    assert bound.get(f"/campaigns/{things['campaign']}").problem == (404, "not_found", None)
    assert stored(owner.workspace_id) == before


@pytest.mark.parametrize("route", ALL_ROUTES, ids=lambda route: f"{route[0]} {route[1]}")
@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer sl_unknown",
        "Basic c2w6",
        "sl_unknown",
        "Bearer \xff",
        "Bearer " + "x" * 4000,
    ],
    ids=["none", "no token", "empty token", "unknown", "basic", "bare", "not ascii", "long"],
)
def test_without_a_valid_token_every_call_is_refused(
    owner: Caller, things: dict[str, str], route: Any, authorization: str
) -> None:
    method, path, body = route
    raw = None if body is None else json.dumps(body).encode()
    answer = owner.send(method, path.format(**things), raw, Authorization=authorization)
    assert answer.problem == (401, "unauthenticated", None)
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_revoked_token_is_no_token(owner: Caller) -> None:
    bearer = owner.bearer
    with bind(owner.workspace_id), transaction.atomic():
        Token.objects.filter(id=bearer.token_id).update(revoked_at=Now())
    assert owner.get("/runs").problem == (401, "unauthenticated", None)


@pytest.mark.parametrize(
    "id", ["1", "x", str(uuid4()).upper(), f"{uuid4()}0", uuid4().hex, "%00", "..", "%F0%9F"]
)
def test_an_id_of_another_form_is_an_unknown_one(owner: Caller, id: str) -> None:
    for path in (f"/runs/{id}", f"/campaigns/{id}", f"/runs/{id}/events", f"/runs/{id}/replay"):
        assert owner.get(path).problem == (404, "not_found", None)
