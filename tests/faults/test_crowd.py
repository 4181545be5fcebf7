"""Two dispatchers and two workers of each queue at once, with the broker emptied under them, and with kills."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.conf import settings

from approvals.models import Campaign, Delivery, Job
from dashboard.embedded.programs import QUEUES
from dashboard.embedded.valkey import Valkey
from tests.faults.crew import Crew, asked
from tests.faults.lab import Lab, eventually
from tests.servers.http import Answer, HttpServer, Request
from tests.servers.smtp import Act, Phase, SmtpSink

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]

CAMPAIGNS, RECIPIENTS, REPLAYS = 4, 50, 20
KILLS = 5
CONNECTIONS = 2  # of one worker: each of its processes has one, and one effect at a time


class SlowRuntime(HttpServer):
    """Takes its time, so that a kill finds somebody waiting for it."""

    def answer(self, request: Request) -> Answer:
        time.sleep(0.3)
        return super().answer(request)


class SlowSink(SmtpSink):
    """Likewise, once it has a whole message."""

    def fault(self, phase: Phase, number: int) -> Act | None:
        if phase == "dot":
            time.sleep(0.1)
        return super().fault(phase, number)


@pytest.fixture
def runtime() -> Iterator[HttpServer]:
    with SlowRuntime() as server:
        yield server


@pytest.fixture
def sink() -> Iterator[SmtpSink]:
    with SlowSink() as server:
        yield server


@pytest.fixture
def lab(process_env: dict[str, str], runtime: HttpServer, sink: SmtpSink, broker: Valkey) -> Lab:
    here = {"EMAIL_URL": f"smtp://127.0.0.1:{sink.port}", "REDIS_URL": broker.url, "POLL_S": "0.5"}
    lab = Lab({**process_env, **here, "SECRET_KEY": settings.SECRET_KEY}, base_url=runtime.url)
    # Long enough that nobody loses a lease only because the machine is busy.
    lab.env |= {"SEND_BATCH": "4", "LEASE_S": "10"}
    return lab


@pytest.fixture
def crew(lab: Lab, tmp_path: Path) -> Iterator[Crew]:
    crew = Crew(lab, tmp_path)
    yield crew
    crew.stop()


def test_with_the_broker_emptied_under_them_each_effect_happens_once(
    lab: Lab, crew: Crew, broker: Valkey, runtime: HttpServer, sink: SmtpSink
) -> None:
    for _ in range(2):
        crew.dispatcher()
        for queue in QUEUES:
            crew.worker(queue)
    release(lab)
    flushes = 0
    with redis.Redis.from_url(broker.url) as client:
        while not ended(lab) and flushes < 20:
            client.flushall()
            flushes += 1
            time.sleep(0.5)
    print(f"{flushes} flushes")
    eventually(lambda: ended(lab), "everything ended", 60)
    assert asked(runtime) == {job.id: 1 for job in jobs(lab) if job.kind == "replay"}
    assert Counter(deliveries(lab).values()) == {"sent": CAMPAIGNS * RECIPIENTS}
    assert Counter(one.message_id for one in sink.accepted) == dict.fromkeys(deliveries(lab), 1)
    assert {job.status for job in jobs(lab)} == {"done", "running"}  # a replay runs until its run ends


def test_with_workers_killed_at_random_nothing_happens_twice_and_what_nobody_knows_is_in_doubt(
    lab: Lab, crew: Crew, broker: Valkey, runtime: HttpServer, sink: SmtpSink
) -> None:
    seed = random.randrange(1_000_000)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for _ in range(2):
        crew.dispatcher()
    workers = [crew.worker(queue) for queue in QUEUES * 2]
    eventually(lambda: crew.said().count(" ready.") == len(workers), "all workers are ready")
    release(lab)
    with redis.Redis.from_url(broker.url) as client:
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.1, 1))
            queue = chance.choice(QUEUES)
            victims = [worker for worker in workers if f"{queue}-" in " ".join(map(str, worker.args))]
            victim = chance.choice(victims)
            crew.kill(victim)
            client.flushall()
            workers.remove(victim)
            workers.append(crew.worker(queue))
    eventually(lambda: ended(lab), "everything ended", 120)

    states = deliveries(lab)
    accepted = Counter(one.message_id for one in sink.accepted)
    in_doubt = [id for id, state in states.items() if state == "in_doubt"]
    lost = [job.id for job in jobs(lab) if job.status == "in_doubt"]
    print(f"in doubt: {len(in_doubt)} messages, {len(lost)} replays")
    assert max(accepted.values()) == max(asked(runtime).values()) == 1
    assert Counter(states.values()) - Counter(in_doubt=len(in_doubt)) == {
        "sent": CAMPAIGNS * RECIPIENTS - len(in_doubt)
    }
    assert accepted.keys() >= states.keys() - set(in_doubt)
    assert asked(runtime).keys() >= {job.id for job in jobs(lab) if job.kind == "replay"} - set(lost)
    assert len(in_doubt) + len(lost) <= KILLS * CONNECTIONS


def release(lab: Lab) -> None:
    """Everything there is to do."""
    for n in range(CAMPAIGNS):
        lab.approved_campaign(RECIPIENTS, f"campaign-{n}")
    for n in range(REPLAYS):
        lab.forced(lab.dead_run(f"run-{n}"))


def jobs(lab: Lab) -> list[Job]:
    return lab.read(lambda: list(Job.objects.all()))


def deliveries(lab: Lab) -> dict[str, str]:
    """The state of each by its Message-ID."""
    return lab.read(lambda: dict(Delivery.objects.values_list("message_id", "state")))


def ended(lab: Lab) -> bool:
    """Whether there is nothing left to do for any worker."""
    campaigns = lab.read(lambda: set(Campaign.objects.values_list("status", flat=True)))
    handed_over = all(
        job.accepted_at or job.status in ("done", "in_doubt") for job in jobs(lab) if job.kind == "replay"
    )
    return handed_over and campaigns == {"finished"}
