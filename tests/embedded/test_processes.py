"""Children, and how they end."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.conf import settings

from dashboard.embedded import processes as module
from dashboard.embedded.processes import Processes
from dashboard.embedded.trouble import Trouble

STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(60)
"""


def test_a_child_that_ends_by_itself_says_how_and_what_last(processes: Processes) -> None:
    child = processes.start("short", ["/bin/sh", "-c", "echo first; echo last; exit 3"])
    assert processes.finish(child, 10) == 3
    assert (child.ending(), child.last_words()) == ("exit code 3", "last")
    assert processes.children == []


def test_only_a_watched_child_is_missed(processes: Processes) -> None:
    child = processes.start("short", ["/bin/true"])
    child.process.wait()
    assert processes.first_dead() is None
    child.watched = True
    assert processes.first_dead() is child


def test_a_stubborn_child_is_ended_by_force(processes: Processes) -> None:
    child = processes.start("stubborn", [sys.executable, "-c", STUBBORN], patience_s=0.2)
    processes.wait_until(lambda: child.last_words() == "ready", "it", 10)
    processes.stop(child)
    assert child.ending() == "killed by SIGKILL"


def test_waiting_in_vain_ends_with_a_sentence(processes: Processes) -> None:
    with pytest.raises(Trouble, match="in vain for a miracle"):
        processes.wait_until(lambda: False, "a miracle", 0.05)


def test_a_program_that_is_none_is_a_sentence(processes: Processes) -> None:
    with pytest.raises(Trouble, match="The ghost process could not be started"):
        processes.start("ghost", ["/nonexistent/ghost"])


def test_a_large_log_is_put_aside(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOG_LIMIT_BYTES", 10)
    for word in ("a long line of words", "new"):
        processes.finish(processes.start("talker", ["/bin/echo", word]), 10)
    assert (processes.logs / "talker.log").read_text() == "new\n"
    assert (processes.logs / "talker.log.1").read_text() == "a long line of words\n"


PARENT = """
import sys, time
from pathlib import Path
from dashboard.embedded.processes import Processes
child = Processes(Path(sys.argv[1])).start("child", ["/bin/sleep", "60"])
print(child.process.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children that their parent died")
def test_a_child_does_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, tmp_path], stdout=subprocess.PIPE, text=True, cwd=settings.BASE_DIR
    )
    assert parent.stdout
    pid = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 10
    while is_running(pid):
        assert time.monotonic() < end
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """Whether it is there and no zombie that nobody has fetched yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
