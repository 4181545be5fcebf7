"""Child processes that never outlive whoever started them.

Each child leads a session of its own, so that Ctrl-C in a terminal reaches the supervisor alone, which then
stops the children in order. Where the supervisor is killed, the kernel sends each child the signal to end
(Linux), and each child holds an inherited lock, by which the next start sees whether one of them still lives.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from dashboard.embedded.home import Identity
from dashboard.embedded.trouble import Trouble

PR_SET_PDEATHSIG = 1
POLL_S = 0.02
LOG_LIMIT_BYTES = 20 * 1024 * 1024
_libc = ctypes.CDLL(None)


@dataclass(eq=False)
class Child:
    """One running program. `stop_signal` asks it to end; after `patience_s` seconds it is ended by force.

    `watched` is set once its end, if it comes by itself, is trouble.
    """

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    stop_signal: signal.Signals
    patience_s: float
    watched: bool = False

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.process.poll() is None

    def ending(self) -> str:
        """How it ended, in words."""
        code = self.process.poll()
        if code is None:
            return "still running"
        return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"

    def last_words(self) -> str:
        """The last line of its log; empty where it wrote nothing."""
        with self.log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - 4096))
            lines = log.read().decode(errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return said[-1][:300] if said else ""


@dataclass(eq=False)
class Processes:
    """The children of this process, oldest first; `logs` is the folder of their logs.

    `check` is called while something is waited for: it may raise to end the waiting.
    `held` is a descriptor that every child inherits (see `locks`).
    """

    logs: Path
    check: Callable[[], None] = lambda: None
    held: int | None = None
    children: list[Child] = field(default_factory=list)

    def start(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | str = "/",
        identity: Identity | None = None,
        stop_signal: signal.Signals = signal.SIGTERM,
        orphan_signal: signal.Signals | None = None,
        patience_s: float = 10,
        fds: Sequence[int] = (),
        output: BinaryIO | None = None,
        says: bytes | None = None,
    ) -> Child:
        """Start a program; what it prints goes to its log, or its standard output alone to `output`.

        `says` is given to it on standard input. Must be called from the main thread: the kernel counts the
        thread that started a child as its parent. Raises Trouble where the program cannot be started.
        """
        log = self.logs / f"{name}.log"
        try:
            with _open_log(log) as errors:
                process = subprocess.Popen(
                    [str(word) for word in command],
                    env=env,
                    cwd=cwd,
                    stdin=subprocess.DEVNULL if says is None else subprocess.PIPE,
                    stdout=output or errors,
                    stderr=errors,
                    start_new_session=True,
                    pass_fds=[*fds, *([] if self.held is None else [self.held])],
                    preexec_fn=end_with_parent(orphan_signal or stop_signal),  # noqa: PLW1509 - no threads here
                    **(identity or {}),
                )
        except (OSError, subprocess.SubprocessError) as error:
            raise Trouble(f"The {name} process could not be started ({error}).") from error
        child = Child(name, process, log, stop_signal, patience_s)
        self.children.append(child)
        if says is not None and process.stdin:
            with (
                contextlib.suppress(BrokenPipeError),
                process.stdin as mouth,
            ):  # that it died is noticed later
                mouth.write(says)
        return child

    def forget(self, child: Child) -> None:
        """Drop a child that has ended, so that its end counts as expected."""
        child.process.wait()
        self.children.remove(child)

    def finish(self, child: Child, seconds: float) -> int:
        """Wait for a child that ends by itself, and give its exit code. Raises Trouble after `seconds`."""
        self.wait_until(lambda: not child.alive, f"the {child.name} process to end", seconds)
        self.forget(child)
        return child.process.returncode

    def wait_until(self, ready: Callable[[], bool], what: str, seconds: float) -> None:
        """Ask `ready` until it says yes. Raises Trouble after `seconds`, or what `check` raises."""
        end = time.monotonic() + seconds
        while not ready():
            self.check()
            if time.monotonic() > end:
                raise Trouble(
                    f"Waited {seconds:.0f} seconds in vain for {what}; the logs are in {self.logs}."
                )
            time.sleep(POLL_S)

    def first_dead(self) -> Child | None:
        """A watched child that has ended by itself, if any has."""
        return next((child for child in self.children if child.watched and not child.alive), None)

    def stop(self, *children: Child, patience_s: float | None = None) -> None:
        """Ask children to end, all at once; by force where they have not when their patience is over."""
        start = time.monotonic()
        for child in children:
            if child.alive:
                child.process.send_signal(child.stop_signal)
        for child in children:
            try:
                patience = child.patience_s if patience_s is None else patience_s
                child.process.wait(max(0, start + patience - time.monotonic()))
            except subprocess.TimeoutExpired:
                _kill_session(child)
            self.forget(child)

    def stop_all(self) -> None:
        """Stop every child that is left, the youngest first."""
        for child in reversed(list(self.children)):
            self.stop(child)


def end_with_parent(ending: signal.Signals, parent: int | None = None) -> Callable[[], None]:
    """What a child does before its work: ask the kernel for `ending` when its parent, by default we, dies."""
    parent = parent or os.getpid()

    def ask() -> None:
        if sys.platform == "linux":
            _libc.prctl(PR_SET_PDEATHSIG, int(ending))
            if os.getppid() != parent:  # it died before we could ask
                os._exit(1)

    return ask


def _kill_session(child: Child) -> None:
    try:
        os.killpg(child.process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _open_log(path: Path) -> BinaryIO:
    """Open a log to append to, putting a large one aside."""
    if path.exists() and path.stat().st_size > LOG_LIMIT_BYTES:
        path.replace(path.with_name(path.name + ".1"))
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    return os.fdopen(descriptor, "ab", buffering=0)
