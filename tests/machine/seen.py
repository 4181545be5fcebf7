"""Everything that a workspace holds at one moment, read by plain SQL behind the product's back."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import namedtuple_row

Row = Any  # a named tuple of one table's columns
_TABLES = {
    "runs": "select * from approvals_run where workspace_id = %s order by created_at, id",
    "events": "select * from approvals_event where workspace_id = %s order by run_id, seq",
    "jobs": "select * from approvals_job where workspace_id = %s order by created_at, id",
    "decisions": "select * from approvals_decision where workspace_id = %s order by seq",
    "bad_links": """
        select seq from (
          select d.seq, d.hash is distinct from decision_hash(d) as forged,
            d.prev_hash is distinct from coalesce(lag(d.hash) over chain, ''::bytea) as cut,
            d.seq <> row_number() over chain as moved
          from approvals_decision d where d.workspace_id = %s window chain as (order by d.seq)) link
        where forged or cut or moved""",
    "campaigns": "select * from approvals_campaign where workspace_id = %s order by created_at, id",
    "versions": "select * from approvals_version where workspace_id = %s order by id",
    "audience": "select * from approvals_audiencerow where workspace_id = %s order by id",
    "deliveries": "select * from approvals_delivery where workspace_id = %s order by campaign_id, position",
    "items": "select id, tab, state, run_id from approvals_queueitem where workspace_id = %s",
    "runtimes": "select id, writes_ahead from approvals_runtime where workspace_id = %s",
    "records": """
        select r.id, record.kind, record.why from approvals_run r, lateral run_record(r.workspace_id, r.id) record
        where r.workspace_id = %s""",
}
LIVE = ("held", "queued", "running", "in_doubt", "paused")
OVER = ("done", "failed", "cancelled")


@dataclass(frozen=True)
class Seen:
    """The rows by id, in the order in which they were made; what has no id of its own is a list."""

    runs: Mapping[UUID, Row]
    events: Sequence[Row]
    jobs: Mapping[UUID, Row]
    decisions: Sequence[Row]
    bad_links: Sequence[Row]
    campaigns: Mapping[UUID, Row]
    versions: Mapping[UUID, Row]
    audience: Mapping[int, Row]
    deliveries: Mapping[UUID, Row]
    items: Mapping[UUID, Row]
    runtimes: Mapping[UUID, Row]
    records: Mapping[UUID, Row]

    @classmethod
    def of(cls, sql: psycopg.Connection[Any], workspace_id: UUID) -> "Seen":
        """What is there now, in one round trip."""
        with sql.pipeline(), sql.transaction():
            asked = {
                name: sql.cursor(row_factory=namedtuple_row).execute(query, [workspace_id])
                for name, query in _TABLES.items()
            }
            found = {name: cursor.fetchall() for name, cursor in asked.items()}
        listed = ("events", "decisions", "bad_links")
        return cls(**{n: rows if n in listed else {r.id: r for r in rows} for n, rows in found.items()})

    def lineage(self, lineage_id: UUID) -> list[Row]:
        """Its attempts, oldest first."""
        return [run for run in self.runs.values() if run.lineage_id == lineage_id]

    def lineages(self) -> Iterator[tuple[UUID, list[Row]]]:
        """Every lineage with its attempts."""
        for run in self.runs.values():
            if run.lineage_id == run.id:
                yield run.id, self.lineage(run.id)

    def head(self, lineage_id: UUID) -> Row:
        """The last attempt that began."""
        return [run for run in self.lineage(lineage_id) if run.started_at][-1]

    def journal(self, run_id: UUID) -> list[Row]:
        """The events of a run."""
        return [event for event in self.events if event.run_id == run_id]

    def held_calls(self, run_id: UUID) -> list[str]:
        """The calls of a run of which a confirmation was asked for, and nothing came since."""
        told: dict[str, list[str | None]] = {}
        for event in self.journal(run_id):
            if event.type == "tool_result":
                told.setdefault(event.call_id, []).append(event.outcome)
        return [call_id for call_id, outcomes in told.items() if set(outcomes) == {"awaiting"}]

    def job_of(self, run_id: UUID) -> Row | None:
        """The job that a replay is started by."""
        return next((job for job in self.jobs.values() if job.run_id == run_id), None)

    def last_job(self, lineage_id: UUID) -> Row | None:
        """The job of a lineage's newest replay."""
        jobs = [
            job for job in self.jobs.values() if job.run_id and self.runs[job.run_id].lineage_id == lineage_id
        ]
        return jobs[-1] if jobs else None

    def jobs_of(self, campaign_id: UUID, *statuses: str) -> list[Row]:
        """The jobs of a campaign in these states."""
        return [j for j in self.jobs.values() if j.campaign_id == campaign_id and j.status in statuses]

    def persons(self, *kinds: str) -> list[Row]:
        """What people decided, of these kinds."""
        return [d for d in self.decisions if d.actor_kind == "member" and d.kind in kinds]

    def looks(self, lineage_id: UUID, *, without: UUID | None = None) -> frozenset[Any]:
        """What a decider has to know about a lineage: two different looks may not pass for one another."""
        told = Counter(event.run_id for event in self.events if event.type != "heartbeat")
        late = Counter(event.run_id for event in self.events if event.late)
        return frozenset(
            (run.id, run.status, run.started_at is None, run.settled_at, told[run.id], late[run.id])
            for run in self.lineage(lineage_id)
            if run.id != without
        )
