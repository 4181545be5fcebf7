"""Runs: making one known, telling of them, and asking for one to start again."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router, Status

from approvals.access.runs import run_for_bearer, runs_of_bearer
from approvals.api.auth import bearer
from approvals.api.schemas.events import EventsIn, EventsTaken
from approvals.api.schemas.problems import WITH_BODY, refusals
from approvals.api.schemas.runs import ReplayStarted, RunFilter, RunIn, RunOpened, RunOut, RunsOut
from approvals.exceptions import Invalid
from approvals.selectors import runs as selector
from approvals.services import journal, replays

router = Router(tags=["runs"])


@router.post(
    "/runs",
    response={201: RunOpened, 200: RunOpened},
    summary="Make a run known",
    openapi_extra=refusals(
        *WITH_BODY,
        403,
        409,
        s409="Another run has this external_id (`external_id_conflict`), or this runtime is read (`runtime_is_read`).",
    ),
)
def open_run(request: HttpRequest, body: RunIn) -> Any:
    """Idempotent on `external_id` for each subject: the same body again answers 200 with the same run."""
    opened = journal.register_run(by=bearer(request), run=body.told())
    return Status(201 if opened.created else 200, {"id": opened.id, "status": opened.status})


@router.get("/runs", response=RunsOut, summary="List runs", openapi_extra=refusals(422))
def list_runs(request: HttpRequest, wanted: Query[RunFilter]) -> Any:
    """The runs of this token's runtime, newest first; with a subject-bound token, that subject's alone."""
    for name in request.GET:
        if name not in RunFilter.model_fields:
            raise Invalid(name, "There is no such parameter here.")
    return selector.page_of(runs_of_bearer(bearer(request)), **wanted.model_dump())


@router.get("/runs/{uuid:run_id}", response=RunOut, summary="Tell of a run", openapi_extra=refusals(404))
def tell_run(request: HttpRequest, run_id: UUID) -> Any:
    """What it is known to have done, and whether it may start again."""
    return selector.told([run_for_bearer(bearer(request), run_id)])[0]


@router.post(
    "/runs/{uuid:run_id}/events",
    response={202: EventsTaken},
    summary="Add to a run's journal",
    openapi_extra=refusals(
        *WITH_BODY,
        404,
        409,
        s409="A number already holds other content (`event_conflict`; `seqs` names it), or this runtime is read"
        " (`runtime_is_read`).",
    ),
)
def add_events(request: HttpRequest, run_id: UUID, body: EventsIn) -> Any:
    """All or nothing, and idempotent on `seq`. A gap is accepted and can be filled later; what arrives after the run
    was settled or interrupted is kept as late.
    """
    events = [event.told() for event in body.events]
    return Status(202, asdict(journal.append(by=bearer(request), run_id=run_id, events=events)))


@router.post(
    "/runs/{uuid:run_id}/replay",
    response={202: ReplayStarted},
    summary="Ask for a run to start again",
    openapi_extra=refusals(
        404,
        409,
        s409="The rules do not allow it (`not_safe`): `reasons` and `calls` name all that is in the way. Or a person"
        " decided that nothing is to be done about it (`dismissed`).",
    ),
)
def ask_replay(request: HttpRequest, run_id: UUID) -> Any:
    """Only where it is certain that nothing was done. No machine can force a replay; a person may, on the page."""
    started = replays.request_by_rule(bearer=bearer(request), run_id=run_id)
    told = {
        "job_id": started.job.id,
        "run_id": started.run.id,
        "decision_id": started.decision.id,
        "status": started.job.status,
    }
    return Status(202, told)
