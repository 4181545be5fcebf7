"""Behind `manage.py up`: starts everything in order, watches it, and stops all of it whatever happens."""

import os
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import psycopg

from dashboard.embedded import envfile, locks, ports, programs, told
from dashboard.embedded.cluster import Cluster
from dashboard.embedded.home import Home
from dashboard.embedded.postgres import Postgres
from dashboard.embedded.processes import Child, Processes
from dashboard.embedded.trouble import (
    FIRST_START_BYTES,
    LATER_START_BYTES,
    MB,
    Trouble,
    from_os_error,
    need_space,
    no_space,
)
from dashboard.embedded.valkey import Valkey

WATCH_S = 0.2
PAGES_S = 60  # how long the first answer may take
MIGRATE_S = 600
DEMO_S = 120
HIGHEST_PORT = 65535


class Stopped(Exception):
    """Somebody asked us to end."""


@dataclass(frozen=True)
class Options:
    """What was asked for. `port` is a word, checked here; `project` is the folder of manage.py."""

    data: Path
    port: str
    demo: bool
    role_prefix: str
    project: Path
    restored: bool = False  # the data was put back from a copy


class Supervisor:
    """One run of `up`."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.started = time.monotonic()
        self.asked_to_stop = False
        self.processes = Processes(options.data / "log", check=self._check)
        self.ours: list[Child] = []  # what needs the servers, so it is stopped before them

    def run(self) -> int:
        """Start, stay until told to end, stop; the exit code. Every failure is one sentence."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._ask_to_stop)
        sentence = ""
        try:
            self._start()
            self._watch()
        except Stopped:
            pass
        except Trouble as trouble:
            sentence = str(trouble)
        except OSError as error:
            sentence = str(from_os_error(error, self.options.data))
        except psycopg.errors.DiskFull:
            sentence = str(no_space(self.options.data))
        except psycopg.Error as error:
            sentence = f"The database refused: {str(error).splitlines()[0]}."
        finally:
            self._stop()
        if sentence:
            _print(sentence, file=sys.stderr)
        return 1 if sentence else 0

    def _start(self) -> None:
        last = envfile.read(self.options.data / "env")
        environ = told.named(os.environ, last)
        own_database = told.has_own_database(environ)
        port = _port(self.options.port)
        home = Home.open(self.options.data)
        self._claim(home, last.get("BASE_URL", ""))
        pages = ports.listen(port)
        first = not (home.servers / "postgres").exists()
        need_space(home.servers, FIRST_START_BYTES if first else LATER_START_BYTES)

        secrets = told.Secrets.of(home.data)
        chosen = secrets.keys | {"BASE_URL": f"http://127.0.0.1:{pages.getsockname()[1]}"}
        if not environ.get("EMAIL_URL"):
            chosen |= self._start_catcher(home, environ)
        if not environ.get("REDIS_URL"):
            valkey = Valkey(home, self.processes, secrets.broker)
            child = valkey.start()
        if not own_database:
            chosen |= self._start_postgres(home, secrets)
        if not environ.get("REDIS_URL"):
            valkey.wait(child).watched = True
            chosen["REDIS_URL"] = valkey.url
            self.say("The broker runs")
        environ = told.write_env(home.data, chosen, environ)

        self._migrate(environ)
        if self.options.restored:
            self._hold_back(environ)
        self._start_ours(pages, told.without_owner(environ))

    # -- the servers

    def _claim(self, home: Home, address: str) -> None:
        """Make sure that we are the only one here, and that nothing of an earlier run is left."""
        if locks.claim(home.data / "lock") is None:
            where = f" ({address})" if address else ""
            raise Trouble(
                f"Another `up`{where} uses {home.data}; stop it first, or choose another folder with --data."
            )
        self.processes.logs.mkdir(mode=0o700, exist_ok=True)
        self.processes.held = locks.inherit(home.data / "children.lock", self._check)
        if home.servers != home.data:
            self.say(f"The servers cannot enter {home.data}; their files are in {home.servers}")

    def _start_catcher(self, home: Home, environ: Mapping[str, str]) -> dict[str, str]:
        folder = home.data / "mail"
        listening = ports.listen(0)
        command = programs.catcher(listening.fileno(), str(folder))
        self._python("catcher", command, environ, fds=[listening.fileno()]).watched = True
        return {
            "EMAIL_URL": f"smtp://127.0.0.1:{listening.getsockname()[1]}",
            "MAIL_CATCHER_DIR": str(folder),
        }

    def _start_postgres(self, home: Home, secrets: told.Secrets) -> dict[str, str]:
        postgres = Postgres(home, self.processes, secrets.superuser)
        if postgres.create():
            self.say("A new database was made")
        postgres.start().watched = True
        cluster = Cluster(postgres, secrets.roles, self.options.role_prefix)
        cluster.create_roles()
        cluster.create_database()
        cluster.close_database()
        self.say("The database runs")
        return cluster.urls()

    # -- our own processes

    def _migrate(self, environ: Mapping[str, str]) -> None:
        child = self._python("migrate", programs.MIGRATE, environ)
        if self.processes.finish(child, MIGRATE_S):
            need_space(child.log.parent, MB)
            raise Trouble(f"The tables could not be brought up to date: {child.last_words()} ({child.log})")
        self.say("The tables are up to date")

    def _hold_back(self, environ: Mapping[str, str]) -> None:
        """Before anything of ours starts: what was due when the copy was made waits for a person."""
        child = self._python("restored", programs.RESTORED, environ)
        if self.processes.finish(child, MIGRATE_S):
            raise Trouble(f"What was due could not be held back: {child.last_words()} ({child.log})")
        self.say("What was due when the copy was made is paused; it stands in the queue")

    def _start_ours(self, pages: socket.socket, environ: Mapping[str, str]) -> None:
        self._keep("web", programs.web(pages.fileno()), environ, pages.fileno())
        if self.options.demo:
            self._prepare_demo(environ)
        self._keep("dispatch", programs.DISPATCH, environ)
        for queue in programs.QUEUES:
            self._keep(f"worker-{queue}", programs.worker(queue), environ)
        if self.options.demo:
            self._keep("demo", programs.DEMO_RUN, environ)
        port: int = pages.getsockname()[1]
        self.processes.wait_until(lambda: ports.answers(port), "the pages to answer", PAGES_S)
        self.say(f"Everything was started; the logs are in {self.processes.logs}")
        _print(f"\nOpen {environ['BASE_URL']}/\nCtrl-C stops everything.")

    def _prepare_demo(self, environ: Mapping[str, str]) -> None:
        """Make the demonstration; what it says, passwords included, is for the person and for no log."""
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb") as heard:
            with os.fdopen(writing, "wb") as output:
                child = self._python("demo-prepare", programs.DEMO_PREPARE, environ, output=output)
            code = self.processes.finish(child, DEMO_S)
            if code:
                need_space(child.log.parent, MB)
                raise Trouble(f"The demonstration could not be made: {child.last_words()} ({child.log})")
            # Whatever happens next: these passwords are shown this once.
            said = heard.read().decode(errors="replace").strip()
            self.say(f"The demonstration is ready\n\n{said}\n")

    def _keep(self, name: str, command: Sequence[str], environ: Mapping[str, str], *fds: int) -> None:
        """Start one of our own processes, which has to live as long as we do.

        Where we are killed it is killed too: the servers go at the same time, and Celery waits for them in vain.
        """
        child = self._python(name, command, environ, fds=fds, orphan_signal=signal.SIGKILL)
        child.watched = True
        self.ours.append(child)

    def _python(self, name: str, command: Sequence[str], environ: Mapping[str, str], **more: Any) -> Child:
        return self.processes.start(
            name, [sys.executable, *command], env=environ, cwd=self.options.project, **more
        )

    # -- until the end

    def say(self, words: str) -> None:
        """Tell how far we are."""
        _print(f"[{time.monotonic() - self.started:5.1f} s] {words}")

    def _watch(self) -> None:
        while True:
            self._check()
            time.sleep(WATCH_S)

    def _check(self) -> None:
        """Raise Stopped once somebody asked for it, or Trouble once a process that has to live does not."""
        if self.asked_to_stop:
            raise Stopped
        dead = self.processes.first_dead()
        if dead:
            need_space(dead.log.parent, MB)
            raise Trouble(
                f"The {dead.name} process ended by itself ({dead.ending()}), so everything was stopped; "
                f"its log {dead.log} ends with: {dead.last_words() or '(nothing)'}"
            )

    def _stop(self) -> None:
        if self.processes.children:
            self.say("Stopping ...")
        # Where something they need has died they may wait for it in vain.
        self.processes.stop(*self.ours, patience_s=None if self.asked_to_stop else 3)
        self.processes.stop_all()
        if self.asked_to_stop:
            self.say("Stopped.")

    def _ask_to_stop(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.asked_to_stop = True


def _print(words: str, *, file: TextIO | None = None) -> None:
    """Print at once. Whoever listened may be gone, which is no reason to leave anything running."""
    try:
        print(words, file=file, flush=True)
    except OSError:
        return


def _port(word: str) -> int:
    """The port that was asked for; 0 takes any that is free."""
    if word.isascii() and word.isdigit() and len(word) <= 5 and int(word) <= HIGHEST_PORT:
        return int(word)
    raise Trouble(f"--port needs a number up to {HIGHEST_PORT}, not {word!r}.")
