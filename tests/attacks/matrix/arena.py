"""Where the matrix is played: one database with two houses, real logins, and a superuser who takes guards away.

DDL is transactional in Postgres, so a guard is taken away, the doctor asked, the attack made and all of it undone in
one transaction of the superuser, who becomes the attacker by SET SESSION AUTHORIZATION.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from json import dumps
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import connections

from approvals.db.base import DatabaseWrapper
from approvals.rules import states
from approvals.services import guards
from tests import house
from tests.attacks.matrix.case import Case
from tests.attacks.matrix.guards import without
from tests.attacks.trying import tried
from tests.cluster import TestServers
from tests.house import House


@dataclass
class Arena:
    """One database, and whoever attacks it."""

    servers: TestServers
    database: str
    values: Mapping[str, Any]
    _said: dict[str, str] = field(default_factory=dict)
    _logins: dict[str, psycopg.Connection[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        url = urlsplit(self.servers.postgres.dsn(database=self.database))
        self.superuser = DatabaseWrapper(
            connections.settings["default"]
            | {"USER": url.username, "PASSWORD": url.password, "NAME": self.database},
            "superuser",
        )
        self.superuser.guarded = False
        self.superuser.set_autocommit(False)

    def login(self, role: str) -> psycopg.Connection[Any]:
        """A connection that really signed in as this role."""
        if role not in self._logins or self._logins[role].closed:
            url = self.servers.cluster.url(role, self.database)
            self._logins[role] = psycopg.connect(url, autocommit=True)
        return self._logins[role]

    def with_everything_in_place(self, case: Case) -> str:
        """What the attacker gets to hear who signs in."""
        connection = self.login(case.by)
        try:
            return tried(connection, case.statements, self.values, **self._bound(case))
        finally:
            connection.execute("discard all")

    def with_something_away(self, case: Case, away: Iterable[str]) -> tuple[str, str]:
        """What the attacker gets to hear once these statements were made, and the doctor after the first of them."""
        answer, said = "", ""

        try:
            if case.given:
                self._run(case.given)
            for number, statement in enumerate(away):
                self._run(statement)
                if not number:
                    said = self._said.get(statement) or self._said.setdefault(statement, self.doctor())
            self._run(f"set local session authorization secondlook_{case.by}")
            connection = self.superuser.connection
            answer = tried(connection, case.statements, self.values, **self._bound(case))
        finally:
            self.superuser.rollback()
        return answer, said

    def doctor(self) -> str:
        """Everything that `guards.examine` complains about in the superuser's open transaction."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                guards, "connections", {alias: _Seen(self, role) for alias, role in guards.ALIASES.items()}
            )
            patch.setattr(guards, "_not_applied", list)  # asks the migrations' own connection
            found = guards.examine(probe=False)
        self._run("reset session authorization")
        return "\n".join(guard.detail for guard in found if not guard.holds)

    def away(self, case: Case) -> list[str]:
        """The statements that take away the guard and what is behind it, the guard first."""
        return [case.without or without(case.guard), *(without(guard) for guard in case.behind)]

    def close(self) -> None:
        self.superuser.close()
        for connection in self._logins.values():
            connection.close()

    def _run(self, statement: str) -> None:
        statement = statement.replace("{database}", f'"{self.database}"')
        values = self.values if "%(" in statement else None
        psycopg.ClientCursor(self.superuser.connection).execute(statement, values)

    def _bound(self, case: Case) -> dict[str, Any]:
        return {"workspace": case.workspace and self.values[case.workspace], "subject": case.subject}


class _Seen:
    """The superuser's open transaction as it looks to one role."""

    def __init__(self, arena: Arena, role: str) -> None:
        self.arena, self.role = arena, role

    def cursor(self) -> Any:
        self.arena.superuser.connection.execute(f"set local session authorization secondlook_{self.role}")
        return self.arena.superuser.cursor()


def furnish(execute: Callable[..., Any], alpha: House, beta: House) -> dict[str, Any]:
    """Put what the houses lack into both, behind every trigger's back; all values by their names.

    In alpha there is a run, a job, a campaign and a delivery in each state: `%(job_in_doubt)s`; a job at work on its
    campaign, with fence 2, and one on its draft, once that is sealed with the digest 1111...; and a replay that was
    asked for. In both there is a version that is not sealed, with its one recipient, and a token's digest.
    """
    execute("set session_replication_role = replica")
    named = alpha.named() | beta.named("b_") | {"ghost": uuid4()}
    [named["stranger"]] = execute(
        "insert into approvals_user (email, password, name, is_active) values ('eve@x.example', '', 'Eve', true)"
        " returning id"
    ).fetchone()
    execute("insert into approvals_beat (name, at, detail) values ('dispatch', now(), '')")
    for prefix, home in (("", alpha), ("b_", beta)):
        named[f"{prefix}digest"] = execute(
            "select digest from approvals_token where id = %s", [home.token]
        ).fetchone()[0]
        named[f"{prefix}draft"] = draft = _copy(
            execute, "version", home.version, number=2, sealed_at=None, digest="", text="a draft"
        )
        [named[f"{prefix}draft_audience"]] = execute(
            "insert into approvals_audiencerow (workspace_id, version_id, position, email, address, vars, state,"
            " reason) values (%s, %s, 1, 'bo@x.example', 'bo@x.example', '{}', 'addressable', '') returning id",
            [home.workspace, draft],
        ).fetchone()
        named |= _lists(execute, prefix, home)
        named |= _calls(execute, prefix, home)
        named |= _files(execute, prefix, home, draft)
    named |= _every_state(execute, alpha)
    named["replay"] = _copy(
        execute, "run", alpha.run, external_id="again", replay_of_id=str(alpha.run), started_at=None,
        tools_executed=None, settled_at=None, status="cancelled", next_seq=1, max_seq=0,
    )  # fmt: skip
    of_each = {"job_at_work": ("0" * 64, alpha.version), "job_at_the_draft": ("1" * 64, named["draft"])}
    for number, (noun, (digest, version)) in enumerate(of_each.items()):
        approval = _copy(
            execute, "decision", alpha.approval, digest=digest, item_id=str(alpha.campaign), seq=901 + number
        )
        named[noun] = _copy(
            execute, "job", alpha.job, campaign_id=str(alpha.campaign), version_id=str(version), status="running",
            fence=2, decision_id=str(approval),
        )  # fmt: skip
    named["job_asking"] = _copy(
        execute, "job", alpha.job, kind="replay", campaign_id=None, version_id=None, run_id=str(named["replay"]),
        status="running", intent_at="2026-01-01T00:00:00Z", decision_id=str(uuid4()),
    )  # fmt: skip
    named["job_testing"] = _copy(
        execute, "job", alpha.job, kind="test", campaign_id=None, version_id=None, sample_id=str(alpha.delivery),
        status="running", intent_at="2026-01-01T00:00:00Z", decision_id=str(uuid4()),
    )  # fmt: skip
    named["job_held_back"] = _copy(
        execute, "job", alpha.job, kind="replay", campaign_id=None, version_id=None, run_id=str(named["replay"]),
        status="paused", decision_id=str(uuid4()), created_at="2020-01-01T00:00:00Z",
    )  # fmt: skip
    # Told in another transaction, and the thousandth entry of another log.
    _copy(
        execute, "decision", alpha.dismissal, kind="outcome", actor_kind="system", target_kind="job",
        target_id=str(named["job_at_work"]), seq=900,
    )  # fmt: skip
    named["b_anchor"] = _copy(execute, "decision", beta.dismissal, seq=1000)
    named["revoked"] = _copy(
        execute, "token", alpha.token, digest="\\x" + "ab" * 32, revoked_at="2026-01-01T00:00:00Z"
    )
    execute("set session_replication_role = origin")
    return named


def _lists(execute: Callable[..., Any], prefix: str, home: House) -> dict[str, UUID]:
    """A list of recipients that is over, and an address that was released. What is imported and what is told is due."""
    over, released = uuid4(), uuid4()
    execute("update approvals_dataset set due_at = now() where id = %s", [home.dataset])
    execute("update approvals_callback set due_at = now() where id = %s", [home.callback])
    execute(
        "insert into approvals_dataset (id, workspace_id, name, sha256, size, encoding, delimiter, columns,"
        " address_column, by_name) values (%s, %s, 'list.csv', repeat('1', 64), 1, 'utf-8', ',', '[]', 'email', 'Ada')",
        [over, home.workspace],
    )
    execute("update approvals_dataset set ended_at = '2026-01-01T00:00:00Z', total = 0 where id = %s", [over])
    execute(
        "insert into approvals_suppression (id, workspace_id, scope, dedupe_key, reason, source, released_at)"
        " values (%s, %s, '', 'back@x.example', 'by_hand', '', '2026-01-01T00:00:00Z')",
        [released, home.workspace],
    )
    return {f"{prefix}dataset_over": over, f"{prefix}released": released}


def _calls(execute: Callable[..., Any], prefix: str, home: House) -> dict[str, Any]:
    """Two more calls of the run that calls a declared tool: the first without its row, the other one settled."""
    execute(
        "insert into approvals_event (workspace_id, run_id, seq, type, at, received_at, call_id, name)"
        " select %s, %s, n, 'tool_call', now(), now(), 'c' || n, 'propose' from generate_series(2, 3) n",
        [home.workspace, home.called_run],
    )
    [settled] = execute(
        "insert into approvals_calledcampaign (workspace_id, run_id, seq, tool, state, ordinal, version_id,"
        " settled_at) values (%s, %s, 3, 'propose', 'proposed', 1, %s, '2026-01-01T00:00:00Z') returning id",
        [home.workspace, home.called_run, home.version],
    ).fetchone()
    return {f"{prefix}settled_call": settled}


def _files(execute: Callable[..., Any], prefix: str, home: House, draft: UUID) -> dict[str, UUID]:
    """A file of the runtime, as big as one may be, which the draft has attached."""
    heavy = uuid4()
    execute(
        "insert into approvals_attachment (id, workspace_id, runtime_id, sha256, size, content_type, looks_like)"
        " values (%s, %s, %s, repeat('b', 64), 10485760, 'text/plain', '')",
        [heavy, home.workspace, home.runtime],
    )
    execute(
        "insert into approvals_versionattachment (id, workspace_id, version_id, position, attachment_id, filename,"
        " content_type) values (%s, %s, %s, 1, %s, 'terms.txt', 'text/plain')",
        [uuid4(), home.workspace, draft, heavy],
    )
    return {f"{prefix}heavy": heavy}


def _every_state(execute: Callable[..., Any], home: House) -> dict[str, UUID]:
    """A row of alpha in each state of each machine."""
    rows: dict[str, UUID] = {}
    for state in states.RUN.states:
        id = uuid4()
        rows[f"run_{state}"] = _copy(
            execute, "run", home.open_run, id, lineage_id=str(id), external_id=f"run {state}", status=state
        )
    for state in states.JOB.states:
        rows[f"job_{state}"] = _copy(
            execute, "job", home.job, status=state, decision_id=str(uuid4()), fence=5
        )
    for state in states.CAMPAIGN.states:
        rows[f"campaign_{state}"] = _copy(
            execute, "campaign", home.campaign, external_id=f"campaign {state}", status=state
        )
    for state in states.DELIVERY.states:
        rows[f"delivery_{state}"] = _copy(
            execute, "delivery", home.delivery, state=state, dedupe_key=f"{state}@x.example", job_id=str(home.job),
            fence=1, attempted_at="2026-01-01T00:00:00Z",
        )  # fmt: skip
    for number, state in enumerate(states.CALLBACK.states, start=2):
        rows[f"callback_{state}"] = _copy(
            execute, "callback", home.callback, number=number, status=state,
            told_at="2026-01-01T00:00:00Z" if state == "told" else None,
        )  # fmt: skip
    return rows


def _copy(execute: Callable[..., Any], noun: str, of: UUID, id: UUID | None = None, **changed: Any) -> UUID:
    """Another row like this one."""
    id = id or uuid4()
    execute(
        f"insert into approvals_{noun} select (jsonb_populate_record(t, %s::jsonb)).* from approvals_{noun} t"
        " where id = %s",
        [dumps({"id": str(id), **changed}), of],
    )
    return id


def build() -> tuple[House, House]:
    """The two houses, made as app makes them; `house.build` needs the database that everything points at."""
    return house.build("alpha"), house.build("beta")
