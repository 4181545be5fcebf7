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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import pytest
from django.conf import settings

from approvals.models import Campaign
from tests.faults.lab import Lab, eventually
from tests.faults.ledger import assert_accounted_for
from tests.servers.smtp import SmtpSink

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]

CONNECTIONS, KILLS = 4, 3
RECIPIENTS = 2_000  # for each throw of the dice, of all campaigns together
THROWS = {1: 8, 2: 8, 3: 7, 4: 7}  # for each number of workers, half of them each way: 30 seeds


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


@pytest.mark.parametrize("pipelining", [True, False], ids=["pipelining", "step by step"])
@pytest.mark.parametrize("workers", THROWS)
def test_killed_at_random_nobody_is_written_to_twice_and_nobody_is_lost(
    process_env: dict[str, str], workers: int, pipelining: bool
) -> None:
    """A01, A11, A12, C04: what a killed worker held is in doubt, the rest goes on by itself, broker or no broker."""
    extensions = ["SIZE 10000000", *(["PIPELINING"] if pipelining else [])]
    with SmtpSink(extensions=extensions) as sink:
        lab = Lab({**process_env, "EMAIL_URL": f"smtp://127.0.0.1:{sink.port}"})
        lab.env |= {"SEND_CONNECTIONS": str(CONNECTIONS), "LEASE_S": "1", "SEND_BATCH": "200"}
        expected, in_doubt = 0, 0
        with pool(lab, workers) as pid:
            for throw in range((THROWS[workers] + pipelining) // 2):
                seed = int(os.environ.get("RANDOM_KILLS_SEED", random.randrange(1_000_000)))
                print(f"{workers} workers, seed {seed}")
                each = RECIPIENTS // workers
                campaigns = [lab.approved_campaign(each, f"c-{throw}-{n}").id for n in range(workers)]
                killed = kill_at_random(lab, sink, pid, campaigns, random.Random(seed))
                expected += each * workers
                counts = lab.read(lambda: assert_accounted_for(sink))
                print(dict(counts), f"{killed} killed")
                assert counts["sent"] + counts["in_doubt"] == expected == counts.total()
                assert counts["in_doubt"] - in_doubt <= killed * CONNECTIONS
                in_doubt = counts["in_doubt"]


def kill_at_random(
    lab: Lab, sink: SmtpSink, pid: int, campaigns: Sequence[UUID], chance: random.Random
) -> int:
    """Until these campaigns are finished; how many were killed, each at an instant of its own while messages left."""
    killed = 0
    over = lambda: finished(lab, campaigns)  # noqa: E731
    while killed < KILLS and not over():
        before = len(sink.accepted)
        eventually(lambda before=before: len(sink.accepted) > before or over(), "it goes on")
        time.sleep(chance.uniform(0, 0.1))
        with contextlib.suppress(ProcessLookupError, IndexError):
            os.kill(chance.choice(children(pid)), signal.SIGKILL)
            killed += 1
    eventually(over, "every campaign is finished", 90)
    return killed


def finished(lab: Lab, campaigns: Sequence[UUID]) -> bool:
    found = Campaign.objects.filter(id__in=campaigns, status="finished")
    return lab.read(found.count) == len(campaigns)
