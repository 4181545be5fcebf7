"""The demo runtime: `python -m dashboard.demo.runtime --config FILE`.

On its first start it plays the opening scenes; after that it waits for replays and really runs them. The file
is JSON: {"api_url", "token", "secret", "host", "port", "smtp_host", "smtp_port", "state_file"}.
"""

import argparse
import base64
import json
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

from dashboard.demo.api import RETRY_S, Api, Journal, Rejected, Stopped
from dashboard.demo.engine import HEARTBEAT_S, Engine
from dashboard.demo.scenes import AGENTS, SCENES
from dashboard.demo.server import Door, Refused
from dashboard.demo.state import State
from dashboard.demo.steps import Scene, Script
from dashboard.demo.tools import Tools

PACE_S = 0.2


@dataclass(frozen=True)
class Config:
    """Where the runtime finds the API and its mail server, and where it is found itself."""

    api_url: str  # without /api/v1
    token: str = field(repr=False)
    secret: str = field(repr=False)
    host: str
    port: int
    smtp_host: str
    smtp_port: int
    state_file: str

    @classmethod
    def read(cls, path: Path) -> "Config":
        """Read the file; raises ValueError with a sentence that says what is wrong with it."""
        try:
            given = json.loads(path.read_text())
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}.") from error
        except ValueError as error:
            raise ValueError(f"{path} is not JSON.") from error
        if not isinstance(given, dict):
            raise ValueError(f"{path} must hold an object.")
        for known in fields(cls):
            if not isinstance(given.get(known.name), known.type):  # type: ignore[arg-type]
                raise ValueError(f"{path} needs {known.name}.")
        try:
            base64.b64decode(given["secret"].removeprefix("whsec_"), validate=True)
        except ValueError:
            raise ValueError(f"The secret in {path} is not one.") from None
        return cls(**{known.name: given[known.name] for known in fields(cls)})


class Runtime:
    """One running demo: a door for replays, and a thread for each run under way."""

    def __init__(
        self,
        config: Config,
        say: Callable[[str], None],
        *,
        pace_s: float = PACE_S,
        heartbeat_s: float = HEARTBEAT_S,
        retry_s: float = RETRY_S,
    ) -> None:
        self._say = say
        self._stop = threading.Event()
        self._state = State(Path(config.state_file))
        self._api = Api(config.api_url, config.token, self._stop, say, retry_s=retry_s)
        self._engine = Engine(
            self._api,
            Tools(self._api, config.smtp_host, config.smtp_port),
            self._stop,
            pace_s=pace_s,
            heartbeat_s=heartbeat_s,
            goes_on=self._state.goes_on,
        )
        self._door = Door((config.host, config.port), config.secret, self._take, self._hear)

    @property
    def port(self) -> int:
        """The port of the door."""
        return int(self._door.server_address[1])

    def start(self) -> None:
        """Open the door and begin with the scenes; returns at once."""
        self._begin("door", partial(self._door.serve_forever, poll_interval=0.1))
        self._begin("scenes", self._open)

    def wait(self) -> None:
        """Wait until somebody calls `stop`, then close the door."""
        self._stop.wait()
        self._door.shutdown()
        self._door.server_close()

    def stop(self, *_: object) -> None:
        """Stop: runs under way get no more events, as when any process goes away."""
        self._stop.set()

    def _open(self) -> None:
        """Go on with the run that goes on, and play each scene that no earlier start has played."""
        if self._state.going_on is not None:
            run_id, seq = self._state.going_on
            journal = Journal(self._api, run_id, seq=seq)
            self._begin(run_id, partial(self._engine.keep_running, journal))
        for scene in SCENES:
            if not self._state.has_played(scene.external_id):
                self._guarded(scene.external_id, partial(self._play_scene, scene))

    def _play_scene(self, scene: Scene) -> None:
        run_id, is_new = self._api.start_run(scene.as_run())
        self._state.played(scene.external_id)
        if is_new:  # else an earlier process has begun it, and died before it could remember
            self._play(scene.script, run_id, scene.input)

    def _take(self, message_id: str, order: dict[str, Any]) -> None:
        """Start a replay, unless it was taken before; raises Refused for an agent that is not here."""
        script = AGENTS.get(order["agent"])
        if script is None:
            raise Refused(HTTPStatus.NOT_FOUND, f"There is no agent named {order['agent']} here.")
        if self._state.take(message_id, order["job_id"]):
            self._say(f"Replaying {order['agent']} as run {order['run_id']}.")
            self._play(script, order["run_id"], order["input"])

    def _hear(self, message_id: str, news: dict[str, Any]) -> None:
        """Say what became of a campaign, once however often it is told."""
        about = news.get("data")
        if isinstance(about, dict) and self._state.take(message_id):
            why = about.get("reason") or about.get("comment")
            self._say(
                f"The campaign {about.get('external_id')} is {about.get('status')} now.{f' {why}' if why else ''}"
            )

    def _play(self, script: Script, run_id: str, given: Mapping[str, Any]) -> None:
        journal = Journal(self._api, run_id)
        self._begin(run_id, partial(self._engine.play, script, journal, given))

    def _begin(self, name: str, work: Callable[[], None]) -> None:
        threading.Thread(target=self._guarded, args=(name, work), name=name, daemon=True).start()

    def _guarded(self, name: str, work: Callable[[], None]) -> None:
        try:
            work()
        except Rejected as rejected:
            self._say(f"{name} stopped, because the API said no ({rejected}).")
        except Stopped:
            return


def main(arguments: list[str] | None = None) -> int:
    """Run until SIGTERM or Ctrl-C; returns the exit code."""
    parser = argparse.ArgumentParser(prog="dashboard.demo.runtime", description="The demo's agent runtime.")
    parser.add_argument("--config", type=Path, required=True, help="a JSON file, see the module's text")
    try:
        config = Config.read(parser.parse_args(arguments).config)
        runtime = Runtime(config, _say)
    except ValueError as error:
        _say(str(error))
        return 1
    except OSError as error:
        _say(f"Port {config.port} of {config.host} cannot be used: {error.strerror}.")
        return 1
    signal.signal(signal.SIGTERM, runtime.stop)
    signal.signal(signal.SIGINT, runtime.stop)
    runtime.start()
    _say(f"The demo runtime listens on {config.host}:{runtime.port}.")
    runtime.wait()
    return 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
