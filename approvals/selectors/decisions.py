"""The decision log, newest first; and one entry with what its decider saw and what came of it.

Pages follow the sequence number, which the database gives out in order. Reading the log is the permission
`read_log`; whoever calls has asked for it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from approvals.models import Decision, Job, Member, QueueItem, Version
from approvals.selectors.job_progress import Progress, progress_of
from approvals.selectors.payloads import proven
from approvals.selectors.reach import reach_of
from approvals.selectors.words import Found, found_by

PEOPLE = 500  # that the filter offers at most
FOUND = 500  # entries that a search brings at most
SET_UP = (
    "workspace_created",
    "workspace_held",
    "workspace_paced",
    "member_added",
    "runtime_added",
    "runtime_changed",
    "token_created",
    "token_revoked",
    "log_verified",
    "dataset_imported",
    "new_version",
)
OTHERS = ("rule", "token", "run", "operator", "system")  # who writes in the log without being a member
NOT_AN_OUTCOME = ~Q(kind="outcome")  # beside a decision its job says what came of it
_FIRST_DAY = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The filters of the log; empty means any. `person` is a user's id or one of OTHERS. Days are days of UTC.

    `decisions_only` leaves out what was set up, brought in or proposed and what came of a decision, unless just that is
    asked for.
    """

    person: str = ""
    kind: str = ""
    agent: str = ""
    since: date | None = None
    until: date | None = None
    recipient: str = ""
    text: str = ""
    decisions_only: bool = False


@dataclass(frozen=True, slots=True)
class Person:
    """A member whom the filter offers."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class About:
    """The lineage or campaign of an entry: where its page is and what it is called."""

    kind: str
    id: UUID
    title: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the log; `job` is the state of its execution.

    `given` is the evidence; None once it was erased, or when it is not what was written down (`altered`).
    """

    id: UUID
    seq: int
    at: datetime
    kind: str
    actor_kind: str
    actor_name: str
    actor_roles: tuple[str, ...]
    target_kind: str
    target_id: UUID
    about: About | None
    given: dict[str, Any] | None
    job: str
    altered: bool = False

    @property
    def reason(self) -> str:
        """Why, in the decider's words; empty where none were asked for or they were erased."""
        given = self.given or {}
        return str(given.get("reason") or given.get("comment") or "")


@dataclass(frozen=True, slots=True)
class Sealed:
    """The content of a campaign that the decision was bound to."""

    number: int
    from_address: str
    reply_to: str
    subject_line: str
    text: str
    html: str


@dataclass(frozen=True, slots=True)
class Opened:
    """One entry with everything that stands in it and what came of it."""

    entry: Entry
    agent: str
    subject: str
    sign_in: str
    opened_at: datetime | None
    digest: str
    payload_hash: str
    prev_hash: str
    hash: str
    sealed: Sealed | None
    progress: Progress | None


def search(text: str) -> Found | None:
    """At most FOUND entries in which all the words occur: who, the agent, the customer, what they wrote and named.

    None where nothing is searched for.
    """
    return found_by("search_decisions", text, at_most=FOUND)


def page_of(
    wanted: Wanted, *, before: int | None = None, size: int = 50, found: Found | None = None
) -> tuple[list[Entry], bool]:
    """(the entries before this number, newest first; whether there are more). `found` where it was searched already."""
    rows = Decision.objects.filter(*conditions_of(wanted, found)).order_by("-seq")
    return entries_of(rows.filter(seq__lt=before) if before is not None else rows, size)


def entries_of(rows: QuerySet[Decision], size: int) -> tuple[list[Entry], bool]:
    """(the first `size` of these decisions, whether there are more)."""
    found = list(rows[: size + 1])
    return _entries(found[:size]), len(found) > size


def opened(decision: Decision) -> Opened:
    """Everything about one entry."""
    return Opened(
        entry=_entries([decision])[0],
        agent=decision.agent,
        subject=decision.subject,
        sign_in=decision.sign_in,
        opened_at=decision.opened_at,
        digest=decision.digest,
        payload_hash=bytes(decision.payload_hash).hex(),
        prev_hash=bytes(decision.prev_hash).hex(),
        hash=bytes(decision.hash).hex(),
        sealed=_sealed(decision),
        progress=progress_of(decision_id=decision.id),
    )


def _sealed(decision: Decision) -> Sealed | None:
    if decision.target_kind not in ("campaign", "delivery") or not decision.item_id or not decision.digest:
        return None
    version = Version.objects.filter(campaign_id=decision.item_id, digest=decision.digest).first()
    if version is None:
        return None
    return Sealed(
        version.number,
        version.from_address,
        version.reply_to,
        version.subject_line,
        version.text,
        version.html,
    )


def people() -> Sequence[Person]:
    """The members of this workspace, by name."""
    members = Member.objects.select_related("user")[:PEOPLE]
    found = [Person(str(member.user.pk), str(member.user)) for member in members]
    return sorted(found, key=lambda person: person.name.lower())


def person_by_email(email: str) -> Person | None:
    """The member with this e-mail address."""
    member = Member.objects.select_related("user").filter(user__email__iexact=email).first()
    return Person(str(member.user.pk), str(member.user)) if member else None


def kinds_there() -> Sequence[str]:
    """The kinds of entries that this log holds."""
    return sorted(Decision.objects.order_by().values_list("kind", flat=True).distinct())


def conditions_of(wanted: Wanted, found: Found | None = None) -> Iterable[Q]:
    """What an entry must be to be wanted. `found` where it was searched already."""
    found = found or search(wanted.text)
    if found is not None:
        yield Q(id__in=found.ids)
    yield from _by_whom(wanted)
    yield from _of_kind(wanted)
    if wanted.agent:
        yield Q(agent=wanted.agent)
    if wanted.since:
        yield Q(at__gte=_midnight(wanted.since))
    if wanted.until:
        yield Q(at__lt=_midnight(wanted.until) + timedelta(days=1))
    if wanted.recipient:
        yield reach_of(wanted.recipient).decisions


def _by_whom(wanted: Wanted) -> Iterable[Q]:
    if wanted.person in OTHERS:
        yield Q(actor_kind=wanted.person)
    elif wanted.person:
        yield Q(actor_kind="member", actor_id=wanted.person)


def _of_kind(wanted: Wanted) -> Iterable[Q]:
    if wanted.kind:
        yield Q(kind=wanted.kind)
    elif wanted.decisions_only:
        yield ~Q(kind__in=SET_UP)
        if wanted.person != "system":
            yield NOT_AN_OUTCOME


def _midnight(day: date) -> datetime:
    """The start of a day of UTC; days that no clock of ours has seen count as the first one."""
    return datetime.combine(min(max(day, _FIRST_DAY), date(9998, 12, 31)), time(), tzinfo=UTC)


def _entries(rows: Sequence[Decision]) -> list[Entry]:
    contents, altered = proven({row.payload_id: row.payload_hash for row in rows})
    items = {
        item.id: About(item.kind, item.run_id or item.id, item.title)
        for item in QueueItem.objects.filter(id__in={row.item_id for row in rows}).defer("due")
    }
    jobs = dict(
        Job.objects.filter(decision_id__in=[row.id for row in rows]).values_list("decision_id", "status")
    )
    return [
        Entry(
            id=row.id,
            seq=row.seq,
            at=row.at,
            kind=row.kind,
            actor_kind=row.actor_kind,
            actor_name=row.actor_name,
            actor_roles=tuple(row.actor_roles),
            target_kind=row.target_kind,
            target_id=row.target_id,
            about=items.get(row.item_id) if row.item_id else None,
            given=contents.get(row.payload_id),
            job=jobs.get(row.id, ""),
            altered=row.payload_id in altered,
        )
        for row in rows
    ]
