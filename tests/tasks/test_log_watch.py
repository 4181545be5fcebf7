"""What the dispatcher tells and verifies of the decision logs."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import transaction
from django.utils import timezone
from structlog.testing import capture_logs

from approvals.db.binding import bind
from approvals.models import Decision
from approvals.selectors import log_heads
from approvals.selectors.log_check import last_verification
from approvals.selectors.log_heads import Anchor, Head, Verified
from approvals.tasks import log_watch
from approvals.tasks.dispatcher import Dispatcher
from approvals.tasks.log_watch import DAY, LogWatch
from tests.world import World


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What went to the log stream."""
    import structlog

    monkeypatch.setattr(log_watch, "log", structlog.get_logger("tests"))
    with capture_logs() as logs:
        yield logs


@pytest.fixture
def watch() -> LogWatch:
    return LogWatch(lambda: False)


def anchors(told: list[Any]) -> list[tuple[str, int, str]]:
    return [(line["workspace"], line["seq"], line["hash"]) for line in told if line["event"] == "log anchor"]


@pytest.mark.django_db
def test_the_heads_of_all_logs_are_told_at_the_start_and_once_a_day(
    watch: LogWatch, told: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    worlds = [World.create("Northwind"), World.create("Harbour")]
    watch.round()
    watch.round()
    heads = [(world.workspace.slug, world.read(log_heads.head)) for world in worlds]
    assert anchors(told) == sorted((slug, head.seq, head.hash) for slug, head in heads)
    assert told[0]["workspace_id"] in {str(world.workspace.id) for world in worlds}
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now + DAY + timedelta(minutes=1))
    watch.tell_heads(log_heads.heads())
    assert len(anchors(told)) == 4


def test_an_anchor_is_told_once_and_one_that_was_committed_late_too(
    watch: LogWatch, told: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    now, one, two = timezone.now(), uuid4(), uuid4()
    there = [Anchor(one, "northwind", 1000, "a" * 64, now)]
    asked = []

    def found(*, since: Any) -> list[Anchor]:
        asked.append(since)
        return [anchor for anchor in there if anchor.at >= since]

    monkeypatch.setattr(log_heads, "anchors", found)
    watch.tell_anchors()
    watch.tell_anchors()
    there.append(Anchor(two, "harbour", 2000, "b" * 64, now - timedelta(minutes=5)))
    watch.tell_anchors()
    watch.tell_anchors()
    assert anchors(told) == [("northwind", 1000, "a" * 64), ("harbour", 2000, "b" * 64)]
    assert now - asked[0] >= DAY - timedelta(minutes=1), "a new process tells the last day's"
    there.append(Anchor(one, "northwind", 3000, "c" * 64, now + timedelta(hours=1)))
    watch.tell_anchors()
    assert set(watch._told) == {(one, 3000)}, "it does not remember for ever"


@pytest.mark.django_db(transaction=True)
def test_every_thousandth_entry_is_an_anchor(
    watch: LogWatch, told: list[Any], connect_as: Callable[[str], psycopg.Connection]
) -> None:
    world = World.create()
    superuser = connect_as("superuser")
    superuser.execute("select set_config('app.workspace_id', %s, false)", [str(world.workspace.id)])
    superuser.execute(
        """
        with made as (
          insert into approvals_payload (id, workspace_id, body, salt)
          select gen_random_uuid(), %(workspace)s, '{}', decode(repeat('00', 16), 'hex') from generate_series(1, 1)
          returning id)
        insert into approvals_decision (id, workspace_id, kind, actor_kind, actor_id, actor_name, actor_roles, sign_in,
          target_kind, target_id, agent, subject, digest, payload_id, payload_hash)
        select gen_random_uuid(), %(workspace)s, 'dismiss', 'operator', 'x', 'x', '{}', '', 'run', gen_random_uuid(),
          '', '', '', made.id, sha256(decode(repeat('00', 16), 'hex') || '{}'::bytea)
        from made, generate_series(1, 2100)
        """,
        {"workspace": world.workspace.id},
    )
    watch.tell_anchors()
    found = anchors(told)
    assert [seq for _, seq, _ in found] == [1000, 2000]
    hashes = world.read(
        lambda: dict(Decision.objects.filter(seq__in=[1000, 2000]).values_list("seq", "hash"))
    )
    assert [bytes(hashes[seq]).hex() for seq in (1000, 2000)] == [hash for _, _, hash in found]


def due(world: World, **changes: Any) -> Verified:
    """This log, as it stands a day after it was verified last."""
    fields = {
        "workspace_id": world.workspace.id, "slug": world.workspace.slug, "head": world.read(log_heads.head),
        "seq": 0, "at": timezone.now() - DAY,
    }  # fmt: skip
    return Verified(**{**fields, **changes})


@pytest.mark.django_db
def test_a_log_that_grew_is_verified_once_a_day(
    watch: LogWatch, told: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World.create()
    watch.round()
    assert world.read(last_verification) is None, "it is not a day old"
    rows = [due(world)]
    monkeypatch.setattr(log_heads, "heads", lambda: rows)
    watch.round()
    found = world.read(last_verification)
    assert found is not None
    assert (found.holds, found.entries, found.seq) == (True, 6, 7)
    entry = world.read(lambda: Decision.objects.get(kind="log_verified"))
    assert (entry.actor_kind, entry.actor_name) == ("system", "Secondlook")
    watch.round()
    assert world.read(lambda: Decision.objects.filter(kind="log_verified").count()) == 1, (
        "another dispatcher was first"
    )
    rows[:] = [due(world, head=Head(7, "x"), seq=7)]
    watch.round()
    rows[:] = [due(world, seq=7, head=Head(8, "x"), at=timezone.now() - timedelta(hours=23))]
    watch.round()
    assert world.read(lambda: Decision.objects.filter(kind="log_verified").count()) == 1


@pytest.mark.django_db
def test_the_narrow_function_knows_what_was_verified(watch: LogWatch) -> None:
    world = World.create()
    (before,) = (row for row in log_heads.heads() if row.workspace_id == world.workspace.id)
    assert (before.seq, before.head.seq) == (0, 6)
    watch.verify(before)
    (after,) = (row for row in log_heads.heads() if row.workspace_id == world.workspace.id)
    assert (after.seq, after.head.seq) == (7, 7)
    assert after.at > before.at


@pytest.mark.django_db
def test_one_log_that_cannot_be_verified_keeps_no_other_from_its_turn(
    watch: LogWatch, told: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World.create()
    broken = due(world, workspace_id="nothing", slug="broken")
    monkeypatch.setattr(log_heads, "heads", lambda: [broken, due(world)])
    watch.round()
    assert any(line["event"] == "the decision log could not be verified" for line in told)
    assert world.read(last_verification) is not None


@pytest.mark.django_db
def test_a_dispatcher_that_ends_does_not_begin_another_log(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World.create()
    monkeypatch.setattr(log_heads, "heads", lambda: [due(world)])
    LogWatch(lambda: True).round()
    assert world.read(last_verification) is None


def test_the_dispatcher_looks_and_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    dispatcher, rounds = Dispatcher(), []
    monkeypatch.setattr(dispatcher._watch, "round", lambda: rounds.append(1))
    dispatcher.stop()
    dispatcher.watch()
    assert rounds == [1]


@pytest.mark.django_db
def test_app_reads_no_log_of_another_workspace_through_it() -> None:
    """Numbers and hashes of all workspaces, and nothing else."""
    world = World.create()
    with bind(World.create("Harbour").workspace.id), transaction.atomic():
        rows = {row.slug: row for row in log_heads.heads()}
    assert rows[world.workspace.slug].head == world.read(log_heads.head)
