"""What the dispatcher hears, publishes and forgets."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
import redis
from django.conf import settings
from django.db import OperationalError

from approvals.services import sweep
from approvals.services.sweep import Due
from approvals.tasks.dispatcher import Dispatcher
from dashboard.celery import app
from dashboard.embedded.valkey import Valkey


@pytest.fixture
def waiting(broker: Valkey) -> Iterator[redis.Redis]:
    """The broker's lists, empty at first."""
    with redis.Redis.from_url(broker.url) as client:
        client.flushall()
        yield client


def wake(**changes: object) -> Due:
    return Due(
        **({"what": "wake", "workspace_id": uuid4(), "id": uuid4(), "kind": "replay", "fence": 0} | changes)
    )


def said(dispatcher: Dispatcher, item: Due) -> None:
    dispatcher._heard(f"{item.workspace_id} {item.id} {item.kind} {item.fence}")
    dispatcher.publish()


def test_a_wake_up_is_published_to_the_queue_of_its_kind(waiting: redis.Redis) -> None:
    dispatcher = Dispatcher()
    said(dispatcher, wake(kind="replay"))
    said(dispatcher, wake(kind="send"))
    assert (waiting.llen("replay"), waiting.llen("send")) == (1, 1)
    said(dispatcher, wake(kind="propose"))
    assert waiting.llen("import") == 1


def test_a_callback_is_published_to_the_queue_of_those_who_send(waiting: redis.Redis) -> None:
    dispatcher = Dispatcher()
    said(dispatcher, wake(kind="callback"))
    assert (waiting.llen("callback"), waiting.llen("send")) == (0, 1)


def test_a_test_to_oneself_is_sent_by_the_workers_that_send(waiting: redis.Redis) -> None:
    said(Dispatcher(), wake(kind="test"))
    assert (waiting.llen("test"), waiting.llen("send")) == (0, 1)


def test_the_same_wake_up_is_published_once_and_a_new_fence_is_a_new_one(waiting: redis.Redis) -> None:
    dispatcher = Dispatcher()
    job = wake()
    said(dispatcher, job)
    said(dispatcher, job)
    assert waiting.llen("replay") == 1
    said(dispatcher, wake(id=job.id, workspace_id=job.workspace_id, fence=1))
    assert waiting.llen("replay") == 2


def test_a_broker_that_was_emptied_is_told_again(waiting: redis.Redis) -> None:
    dispatcher = Dispatcher()
    job = wake()
    said(dispatcher, job)
    waiting.flushall()
    dispatcher._ask_broker()
    said(dispatcher, job)
    assert waiting.llen("replay") == 1


def test_one_that_was_away_is_told_again(waiting: redis.Redis) -> None:
    dispatcher = Dispatcher()
    job = wake()
    said(dispatcher, job)
    dispatcher._broker_failed(redis.ConnectionError("gone"))
    said(dispatcher, job)
    assert waiting.llen("replay") == 2  # the second is harmless; that one was lost would not be


@pytest.mark.parametrize(
    "words",
    [
        "",
        "hello",
        f"{uuid4()} {uuid4()} replay",
        f"{uuid4()} {uuid4()} delete 1",
        f"{uuid4()} {uuid4()} replay -1",
        f"{uuid4()} {uuid4()} replay {'9' * 40}",
        f"{uuid4()} '; drop table x; replay 1",
        f"{uuid4()} {uuid4()} replay 1 more",
    ],
)
def test_other_words_on_the_channel_are_not_heard(words: str) -> None:
    dispatcher = Dispatcher()
    dispatcher._heard(words)
    assert dispatcher._wakes.empty()


def test_a_broker_that_is_not_there_costs_a_sentence_and_the_wake_up_is_not_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nowhere = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(settings, "REDIS_URL", nowhere)
    monkeypatch.setattr(app.conf, "broker_url", nowhere)
    from kombu import pools

    app.pool.force_close_all()
    pools.reset()
    app._pool = None
    app.amqp._producer_pool = None
    dispatcher = Dispatcher()
    said(dispatcher, wake())
    assert dispatcher._broker.startswith("The broker does not answer")
    assert not dispatcher._published


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> tuple[Dispatcher, list[Due], list[Due]]:
    """A dispatcher that does not rest, what is due, and what it has done of that."""
    dispatcher, due, done = Dispatcher(), [wake(what="lease"), wake(what="silent")], list[Due]()
    monkeypatch.setattr(sweep, "due", lambda *, at_most: due)
    monkeypatch.setattr(sweep, "step", done.append)
    monkeypatch.setattr(sweep, "beat", lambda name, **detail: None)
    monkeypatch.setattr(settings, "POLL_S", 0.0)
    return dispatcher, due, done


def test_one_item_that_fails_keeps_no_other_from_its_turn(
    clock: tuple[Dispatcher, list[Due], list[Due]], monkeypatch: pytest.MonkeyPatch
) -> None:
    dispatcher, due, done = clock

    def step(item: Due) -> None:
        if item is due[0]:
            raise ValueError("a row that nobody thought of")
        done.append(item)

    monkeypatch.setattr(sweep, "step", step)
    dispatcher.sweep()
    assert done == [due[1]]


def test_a_database_that_is_gone_ends_the_round(
    clock: tuple[Dispatcher, list[Due], list[Due]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def step(item: Due) -> None:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(sweep, "step", step)
    with pytest.raises(OperationalError):
        clock[0].sweep()
