"""kill -9 at random instants while campaigns are sent: 0 twice, 0 lost, at most one in doubt for each connection.

The instants are the dice's, whose seed is printed; RANDOM_KILLS_SEED=n throws the same ones again.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from approvals.models import Campaign
from tests.faults.lab import Lab, eventually
from tests.faults.ledger import assert_accounted_for
from tests.servers.smtp import SmtpSink

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]

RECIPIENTS, CONNECTIONS, KILLS = 2_000, 4, 4
SEEDS = {1: 8, 2: 8, 3: 7, 4: 7}  # throws of the dice for each number of workers: 30


@contextmanager
def pool(lab: Lab, workers: int) -> Iterator[int]:
    """The pid of a process that keeps so many workers alive."""
    words = [sys.executable, "-m", "tests.faults.pool", str(workers), str(lab.workspace_id)]
    with subprocess.Popen(
        words, env=lab.env, cwd=settings.BASE_DIR, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("workers", SEEDS)
def test_killed_at_random_nobody_is_written_to_twice_and_nobody_is_lost(
    process_env: dict[str, str], workers: int
) -> None:
    """A01, A11, A12, C04: what a killed worker held is in doubt, the rest goes on by itself, broker or no broker."""
    for throw in range(SEEDS[workers]):
        seed = int(os.environ.get("RANDOM_KILLS_SEED", random.randrange(1_000_000)))
        print(f"{workers} workers, seed {seed}")
        extensions = ["SIZE 10000000", *(["PIPELINING"] if throw % 2 else [])]
        with SmtpSink(extensions=extensions) as sink:
            env = {"EMAIL_URL": f"smtp://127.0.0.1:{sink.port}"}
            lab = Lab({**process_env, **env})
            lab.env |= {"SEND_CONNECTIONS": str(CONNECTIONS), "LEASE_S": "1", "SEND_BATCH": "200"}
            for number in range(workers):
                lab.approved_campaign(RECIPIENTS // workers, f"campaign-{number}")
            killed = send_and_kill(lab, sink, workers, random.Random(seed))
            counts = lab.read(lambda sink=sink: assert_accounted_for(sink))
        print(dict(counts), f"{killed} killed")
        assert counts["planned"] == counts["attempting"] == counts["failed"] == 0
        assert counts["sent"] + counts["in_doubt"] == RECIPIENTS // workers * workers
        assert counts["in_doubt"] <= killed * CONNECTIONS


def send_and_kill(lab: Lab, sink: SmtpSink, workers: int, chance: random.Random) -> int:
    """Until every campaign is finished; how many were killed, each at an instant of its own while messages left."""
    killed = 0
    with pool(lab, workers) as pid:
        sink.wait_for(1)
        while killed < KILLS and not finished(lab, workers):
            before = len(sink.accepted)
            time.sleep(chance.uniform(0, 0.1))
            with contextlib.suppress(ProcessLookupError, IndexError):
                os.kill(chance.choice(children(pid)), signal.SIGKILL)
                killed += 1
            eventually(
                lambda before=before: len(sink.accepted) > before or finished(lab, workers), "it goes on"
            )
        eventually(lambda: finished(lab, workers), "every campaign is finished", 90)
    return killed


def finished(lab: Lab, campaigns: int) -> bool:
    return lab.read(lambda: Campaign.objects.filter(status="finished").count()) == campaigns
