"""The runtimes of the bound workspace, and how far the reading is of those whose own store is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from urllib.parse import urlsplit
from uuid import UUID

from django.db.models.functions import Now

from approvals.models import Observation, Runtime

FRESH_S = 60  # a store is looked at every few seconds; after this long nobody seems to do it
UNREAD_S = 300  # a store that cannot be read for longer concerns everybody

State = Literal["reports", "waiting", "first_read", "up_to_date", "not_looked", "unread"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """How far the reading of a store is. Counts are sessions; `facts` say per application what its agent can hide.

    `trouble` is why the store cannot be read, `notice` what its service does not answer: one sentence or empty.
    """

    trouble: str = ""
    troubled_since: datetime | None = None
    notice: str = ""
    read_at: datetime | None = None
    version: str = ""
    facts: Mapping[str, Any]
    pass_began_at: datetime | None = None
    pass_done: int = 0
    pass_total: int = 0
    pass_ended_at: datetime | None = None

    @property
    def sessions(self) -> int:
        """How many there are: some may have come since they were counted at the beginning of the pass."""
        return max(self.pass_total, self.pass_done)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeRow:
    """One runtime; `observed` is None for one that reports by itself."""

    id: UUID
    name: str
    kind: str
    base_url: str
    silence_s: int
    writes_ahead: bool
    hides_calls: bool
    callback_url: str
    created_at: datetime
    observed: Observed | None
    campaign_tools: Sequence[str] = ()

    def state(self, now: datetime) -> State:
        """How the reading stands.

        `waiting`: it was added just now. `not_looked`: nobody has looked for a minute, though nothing was in the way.
        """
        read = self.observed
        if read is None:
            return "reports"
        if read.trouble:
            return "unread"
        if now - (read.read_at or self.created_at) > timedelta(seconds=FRESH_S):
            return "not_looked"
        if read.pass_ended_at is None:
            return "first_read" if read.pass_began_at else "waiting"
        return "up_to_date"


@dataclass(frozen=True, slots=True)
class Unread:
    """A runtime whose store cannot be read for a while, since when, and why."""

    id: UUID
    name: str
    since: datetime
    trouble: str


def all_runtimes() -> list[RuntimeRow]:
    """Every runtime, by name."""
    observed = {one.runtime_id: one for one in Observation.objects.all()}
    return [_row(runtime, observed.get(runtime.id)) for runtime in Runtime.objects.order_by("name", "id")]


def runtime_row(runtime: Runtime) -> RuntimeRow:
    """This one."""
    return _row(runtime, Observation.objects.filter(runtime=runtime).first())


def unread_stores(*, at_most: int) -> list[Unread]:
    """The runtimes whose store could not be read for more than UNREAD_S, the longest first."""
    troubled = Observation.objects.filter(troubled_since__lt=Now() - timedelta(seconds=UNREAD_S))
    rows = troubled.select_related("runtime").order_by("troubled_since", "id")[:at_most]
    return [
        Unread(row.runtime_id, row.runtime.name, row.troubled_since, row.trouble)
        for row in rows
        if row.troubled_since
    ]


def _row(runtime: Runtime, observation: Observation | None) -> RuntimeRow:
    told = (
        *("trouble", "troubled_since", "notice", "read_at", "version", "facts"),
        *("pass_began_at", "pass_done", "pass_total", "pass_ended_at"),
    )
    return RuntimeRow(
        id=runtime.id,
        name=runtime.name,
        kind=runtime.kind,
        base_url=runtime.base_url,
        silence_s=runtime.silence_s,
        writes_ahead=runtime.writes_ahead,
        hides_calls=runtime.hides_calls,
        callback_url=runtime.callback_url,
        created_at=runtime.created_at,
        campaign_tools=tuple(runtime.campaign_tools),
        observed=Observed(**{field: getattr(observation, field) for field in told}) if observation else None,
    )


def allowed_hosts() -> frozenset[str]:
    """The hosts (`host:port` where the address says one) that may be called: those of the runtimes that were added."""
    urls = Runtime.objects.exclude(base_url="").values_list("base_url", flat=True)
    return frozenset(urlsplit(url).netloc for url in urls)
