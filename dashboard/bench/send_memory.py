"""The most memory that a worker's process takes while it sends, for campaigns of different sizes.

A process of its own for each size sends the same number of messages from it, in batches as ever, and tells its peak
(`ru_maxrss`): what grows is only what there is to send.
"""

import resource
import subprocess
import sys

from django.conf import settings

from approvals.tasks import send
from dashboard.bench import house, send_load
from dashboard.bench.servers import Servers
from dashboard.bench.telling import Teller
from dashboard.embedded.trouble import Trouble

SEND_S = 600
BATCHES = 10


def peak_mb(
    tell: Teller, running: Servers, made: house.House, *, port: int, recipients: int, messages: int
) -> float:
    """Megabytes at most while so many messages of a campaign for so many recipients are sent."""
    tell.say(f"Making a campaign for {recipients:,} recipients, and sending {messages:,} of its messages")
    mailing = send_load.approved(running, made, recipients)
    words = [str(mailing.job_id), str(mailing.workspace_id), str(messages)]
    program = f"import django; django.setup(); from {__name__} import tell_peak; tell_peak(*{words})"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=running.environ() | {"EMAIL_URL": f"smtp://127.0.0.1:{port}"},
        cwd=settings.BASE_DIR, timeout=SEND_S, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise Trouble(f"The sending process ended early: {done.stderr.strip().splitlines()[-1:]}")
    return round(int(done.stdout.split()[-1]) / 1024, 1)


def tell_peak(job_id: str, workspace_id: str, messages: str) -> None:
    """Send, in the process that was started for it, and print the peak in kilobytes."""
    settings.SEND_BATCH = max(1, int(messages) // BATCHES)
    for _ in range(BATCHES):
        send.execute.apply(args=[job_id], kwargs={"workspace": workspace_id}, throw=True)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
