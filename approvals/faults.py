"""Named points at which a process can be told to die or to freeze, so that tests can prove what that leaves behind.

Off unless settings.FAULTS_ALLOWED is on and the environment says FAULT_AT=<name>; FAULT_HOW=stop freezes.
"""

import os
import signal

from django.conf import settings

NAMES: frozenset[str] = frozenset({
    "replay.claimed", "replay.intent", "replay.called", "replay.settled",
    "stream.opened", "stream.heard", "stream.ended", "stream.settled",
    "send.claimed", "send.intent", "send.handed_over", "send.settled", "send.batch_done",
    "test.claimed", "test.intent", "test.handed_over", "test.settled",
    "observe.claimed", "observe.taken", "observe.read",
    "import.claimed", "import.counted", "import.stored",
    "propose.before_commit", "propose.settled",
    "callback.claimed", "callback.called", "callback.settled",
    "dispatch.published", "decide.before_commit",
})  # fmt: skip


def point(name: str) -> None:
    """Die here, as by kill -9, if FAULT_AT names this point; or freeze, once, until somebody sends SIGCONT."""
    if name not in NAMES:
        raise ValueError(f"{name} is not a fault point")
    if settings.FAULTS_ALLOWED and os.environ.get("FAULT_AT") == name:
        del os.environ["FAULT_AT"]  # whoever is woken goes on
        stops = os.environ.get("FAULT_HOW") == "stop"
        os.kill(os.getpid(), signal.SIGSTOP if stops else signal.SIGKILL)
