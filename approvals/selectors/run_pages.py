"""Everything that the page of one run is made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from approvals.models import Decision, Observation, Run
from approvals.rules.failures import Failure, failure_of
from approvals.rules.in_place import held
from approvals.rules.verdict import RunFacts, Verdict
from approvals.selectors.asked_again import NOT_AGAIN, Again, asked_again
from approvals.selectors.called import Called, called_by
from approvals.selectors.confirmations import confirmations_of
from approvals.selectors.decisions import NOT_AN_OUTCOME, Entry, entries_of
from approvals.selectors.did import Attempt, attempts_of
from approvals.selectors.errors import errors_of
from approvals.selectors.job_progress import Progress, progress_of
from approvals.selectors.lineages import judged
from approvals.selectors.resolutions import Resolution, resolutions_in
from approvals.selectors.timelines import Given, Timeline, input_of, timeline_of

ENTRIES = 50  # decisions that the page lists at most


@dataclass(frozen=True, slots=True)
class Told:
    """One run as its row says it, with what its runtime is called and can do, and how patient it is with it.

    `version` is what a runtime that is observed says of itself; `hides_calls` an admin's word on its tools.
    """

    id: UUID
    lineage_id: UUID
    replay_of: UUID | None
    external_id: str
    agent: str
    subject: str
    session_id: str
    trigger: str
    status: str
    created_at: datetime
    started_at: datetime | None
    last_event_at: datetime | None
    ended_at: datetime | None
    interrupted_at: datetime | None
    interrupted_why: str
    dismissed_at: datetime | None
    runtime: str
    kind: str
    version: str
    hides_calls: bool
    silence_s: int
    time_limit_s: int


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """A run with its lineage, what the rules say, and the digest that a decision made on the page is bound to.

    `progress` is the newest replay where it is of this run, or made it. `answers` are what people said of calls.
    `asked` are the requests of the held calls by call id, `again` the runs in which the same was asked, `failure` what
    it failed with. `called` are the calls that were to propose a campaign, by the number of their event.
    """

    run: Told
    facts: tuple[RunFacts, ...]
    verdict: Verdict
    digest: str
    attempts: Sequence[Attempt]
    timeline: Timeline
    given: Given
    progress: Progress | None
    answers: Mapping[tuple[UUID, str], Resolution]
    asked: Mapping[str, Mapping[str, str]]
    again: Again
    failure: Failure | None
    called: Mapping[int, Called]
    entries: Sequence[Entry]
    now: datetime

    @property
    def own(self) -> RunFacts:
        """The facts of this run itself."""
        return next(fact for fact in self.facts if fact.id == str(self.run.id))

    @property
    def head(self) -> RunFacts:
        """The attempt that counts: the last that began."""
        return next((fact for fact in self.facts if fact.is_head), self.own)


def open_run(run: Run) -> OpenedRun:
    """Read it all in the open transaction. `run` with its runtime.

    The facts come first: what is read after them can only be newer than the digest, so that a decision made on
    something that is not in the digest is refused as stale instead of being taken.
    """
    facts, verdict, digest = judged(run)
    attempts = attempts_of([run.lineage_id]).get(run.lineage_id, ())
    decisions = Decision.objects.filter(NOT_AN_OUTCOME, item_id=run.lineage_id).order_by("-seq")
    return OpenedRun(
        run=_told(run),
        facts=facts,
        verdict=verdict,
        digest=digest,
        attempts=attempts,
        timeline=timeline_of(run.id),
        given=input_of(run.input_payload_id),
        progress=_progress(run),
        answers=resolutions_in([attempt.id for attempt in attempts]),
        asked=_asked(run, facts),
        again=asked_again([run.id]).get(run.id, NOT_AGAIN),
        failure=_failure(run, facts),
        called=called_by(run.id),
        entries=entries_of(decisions, ENTRIES)[0],
        now=timezone.now(),
    )


def _asked(run: Run, facts: Sequence[RunFacts]) -> Mapping[str, Mapping[str, str]]:
    """The requests of the calls that a person is asked about."""
    return confirmations_of(run.id, [call.call_id for call in held(_own(run, facts))])


def _failure(run: Run, facts: Sequence[RunFacts]) -> Failure | None:
    if run.status != "failed":
        return None
    return failure_of(errors_of([run.id]).get(run.id), _own(run, facts).calls)


def _own(run: Run, facts: Sequence[RunFacts]) -> RunFacts:
    return next(fact for fact in facts if fact.id == str(run.id))


def _progress(run: Run) -> Progress | None:
    progress = progress_of(run__lineage_id=run.lineage_id)
    if progress is None or progress.run_id is None:
        return None
    made = Run.objects.only("id", "replay_of_id").get(id=progress.run_id)
    return progress if run.id in (made.id, made.replay_of_id) else None


def _told(run: Run) -> Told:
    return Told(
        id=run.id,
        lineage_id=run.lineage_id,
        replay_of=run.replay_of_id,
        external_id=run.external_id,
        agent=run.agent,
        subject=run.subject,
        session_id=run.session_id,
        trigger=run.trigger,
        status=run.status,
        created_at=run.created_at,
        started_at=run.started_at,
        last_event_at=run.last_event_at,
        ended_at=run.ended_at,
        interrupted_at=run.interrupted_at,
        interrupted_why=run.interrupted_why,
        dismissed_at=run.dismissed_at,
        runtime=run.runtime.name,
        kind=run.runtime.kind,
        version=_version(run),
        hides_calls=run.runtime.hides_calls,
        silence_s=run.runtime.silence_s,
        time_limit_s=run.runtime.time_limit_s,
    )


def _version(run: Run) -> str:
    """What its runtime last said of itself, where it is observed."""
    said = Observation.objects.filter(runtime_id=run.runtime_id).values_list("version", flat=True).first()
    return said or ""
