"""Two connections at once, each in the middle of a transaction."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests import house
from tests.house import House

pytestmark = pytest.mark.django_db(transaction=True)
BLOCKED_S = 0.3

Connect = Callable[..., psycopg.Connection]


@pytest.fixture
def home(transactional_db: None) -> House:
    del transactional_db
    return house.build("alpha")


@pytest.fixture
def bound(connect_as: Connect, home: House) -> Iterator[Connect]:
    """A connection of this role in an open transaction that is bound to the house."""
    opened: list[psycopg.Connection] = []

    def begin(role: str, isolation: str = "read committed") -> psycopg.Connection:
        connection = connect_as(role)
        opened.append(connection)
        connection.execute(f"begin isolation level {isolation}")
        connection.execute(
            "select set_config('app.workspace_id', %s, true), set_config('app.subject', '', true)",
            [str(home.workspace)],
        )
        return connection

    yield begin
    for connection in opened:
        connection.close()


def meanwhile(connection: psycopg.Connection, statement: str, values: dict[str, Any]) -> Future[str]:
    """Run it in a thread, since it has to wait for the other transaction; what Postgres says, after its commit."""
    answer: Future[str] = Future()

    def run() -> None:
        try:
            connection.execute(statement, values)
            connection.execute("commit")
            answer.set_result("done")
        except psycopg.Error as error:
            answer.set_result(f"{error.sqlstate} ({error.diag.constraint_name})")

    threading.Thread(target=run, daemon=True).start()
    return answer


def is_waiting(answer: Future[str]) -> bool:
    try:
        answer.result(timeout=BLOCKED_S)
    except TimeoutError:
        return True
    return False


ENDED_WITH_A_GAP = (
    "insert into approvals_event (workspace_id, run_id, seq, type, at, outcome)"
    " values (%(workspace)s, %(run)s, 2, 'ended', now(), 'failed')"
)
HEARTBEAT = (
    "insert into approvals_event (workspace_id, run_id, seq, type, at)"
    " values (%(workspace)s, %(run)s, 9, 'heartbeat', now())"
)
REPLAY = (
    "insert into approvals_run (id, workspace_id, runtime_id, external_id, agent, subject, session_id, trigger,"
    " input_payload_id, input_hash, body_digest, lineage_id, replay_of_id, started_at)"
    " select %(id)s, workspace_id, runtime_id, 'again', agent, subject, '', 'replay', input_payload_id, input_hash, '',"
    " lineage_id, id, now() from approvals_run where id = %(run)s"
)


@pytest.mark.parametrize("attempts", [1, 2], ids=["the original", "a replay"])
def test_an_event_that_waits_for_a_handover_is_late(home: House, bound: Connect, attempts: int) -> None:
    """The run ended with a gap, so nothing but the replay that is being handed over makes the event late."""
    setting_up, handing_over, reporting, looking = (bound(role) for role in ("app", "app", "ingest", "app"))
    values = home.named() | {"run": home.open_run, "root": home.open_run}
    setting_up.execute(ENDED_WITH_A_GAP, values)
    if attempts == 2:
        values["id"] = uuid4()
        setting_up.execute(REPLAY, values)
        values["run"] = values["id"]
        setting_up.execute(ENDED_WITH_A_GAP, values)
    setting_up.execute("commit")

    handing_over.execute("select from approvals_run where id = %(root)s for no key update", values)
    handing_over.execute(REPLAY, values | {"id": uuid4()})
    answer = meanwhile(reporting, HEARTBEAT, values)
    assert is_waiting(answer)
    handing_over.execute("commit")
    assert answer.result(timeout=30) == "done"
    late = looking.execute("select late from approvals_event where run_id = %(run)s and seq = 9", values)
    assert late.fetchone() == (True,)


def test_an_old_snapshot_would_not_see_the_handover(home: House, bound: Connect) -> None:
    """Which is why the doctor insists on read committed: the guard gives way to any other isolation."""
    setting_up, handing_over, looking = (bound(role) for role in ("app", "app", "app"))
    values = home.named() | {"run": home.open_run}
    setting_up.execute(ENDED_WITH_A_GAP, values)
    setting_up.execute("commit")
    reporting = bound("ingest", "repeatable read")
    handing_over.execute("select from approvals_run where id = %(run)s for no key update", values)
    handing_over.execute(REPLAY, values | {"id": uuid4()})
    handing_over.execute("commit")
    reporting.execute(HEARTBEAT, values)
    reporting.execute("commit")
    late = looking.execute("select late from approvals_event where run_id = %(run)s and seq = 9", values)
    assert late.fetchone() == (False,)


def test_a_recipient_that_waits_for_the_seal_is_refused(home: House, bound: Connect) -> None:
    setting_up, sealing, adding = bound("app"), bound("app"), bound("app")
    values = home.named() | {"version": uuid4()}
    setting_up.execute(
        "insert into approvals_version (id, workspace_id, campaign_id, number, from_address, reply_to, subject_line,"
        " text, html, digest) values (%(version)s, %(workspace)s, %(campaign)s, 2, '', '', '', '', '', '')",
        values,
    )
    setting_up.execute("commit")
    sealing.execute(
        "update approvals_version set digest = 'd', sealed_at = now() where id = %(version)s", values
    )
    answer = meanwhile(
        adding,
        "insert into approvals_audiencerow (workspace_id, version_id, position, email, address, vars, state, reason)"
        " values (%(workspace)s, %(version)s, 1, 'x', 'x', '{}', 'addressable', '')",
        values,
    )
    assert is_waiting(answer)
    sealing.execute("commit")
    assert answer.result(timeout=30) == "23514 (version_sealed)"


def test_two_decisions_at_once_are_two_links_of_one_chain(home: House, bound: Connect) -> None:
    first, second, looking = bound("app"), bound("app"), bound("app")
    decision = (
        "insert into approvals_decision (id, workspace_id, kind, actor_kind, actor_id, actor_name, actor_roles,"
        " sign_in, target_kind, target_id, agent, subject, digest, payload_id, payload_hash, seq, at, prev_hash, hash)"
        " values (gen_random_uuid(), %(workspace)s, 'dismiss', 'member', '1', 'Eve', '{}', '', 'run', %(run)s, '', '',"
        " '', %(payload)s, '', 1, '1999-01-01', 'forged', 'forged')"
    )
    first.execute(decision, home.named())
    answer = meanwhile(second, decision, home.named())
    assert is_waiting(answer)
    first.execute("commit")
    assert answer.result(timeout=30) == "done"
    links = looking.execute(
        "select d.seq, d.prev_hash = lag(d.hash, 1, ''::bytea) over (order by d.seq), d.hash = decision_hash(d),"
        " d.at > now() - interval '1 minute' from approvals_decision d order by d.seq desc limit 2"
    ).fetchall()
    count = looking.execute("select count(*) from approvals_decision").fetchone()
    assert [link[0] for link in links] == [count[0], count[0] - 1]  # type: ignore[index]
    assert all(all(link[1:]) for link in links)


END = "update approvals_job set status = %(status)s, fence = fence + %(claimed)s where id = %(job)s"
TELL = (
    "insert into approvals_decision (id, workspace_id, kind, actor_kind, actor_id, actor_name, actor_roles, sign_in,"
    " target_kind, target_id, item_id, agent, subject, digest, payload_id, payload_hash)"
    " values (gen_random_uuid(), %(workspace)s, 'outcome', 'system', '', '', '{}', '', 'job', %(job)s, %(job)s,"
    " '', '', '', %(payload)s, '')"
)


def test_an_end_is_not_told_by_what_another_transaction_told_meanwhile(home: House, bound: Connect) -> None:
    """Whose entry is younger than this transaction, and about an earlier end."""
    claiming, failing, doubting = bound("app"), bound("app"), bound("app")
    values = home.named()
    claiming.execute(END, values | {"status": "running", "claimed": 1})
    claiming.execute("commit")
    failing.execute("select now()")
    doubting.execute(END, values | {"status": "in_doubt", "claimed": 0})
    doubting.execute(TELL, values)
    doubting.execute("commit")
    failing.execute(END, values | {"status": "failed", "claimed": 0})
    with pytest.raises(psycopg.errors.CheckViolation) as error:
        failing.execute("commit")
    assert error.value.diag.constraint_name == "job_end_is_told"


def test_an_end_is_told_in_a_part_of_its_transaction(home: House, bound: Connect) -> None:
    """A savepoint has a number of its own, and an entry written within one is the same transaction's."""
    ending = bound("app")
    values = home.named()
    ending.execute(END, values | {"status": "running", "claimed": 1})
    ending.execute("savepoint part")
    ending.execute(END, values | {"status": "done", "claimed": 0})
    ending.execute("release part")
    ending.execute("savepoint another")
    ending.execute(TELL, values)
    ending.execute("release another")
    ending.execute("commit")
    assert ending.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
