import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from approvals.rules import webhooks
from dashboard.demo.runtime import Config, Runtime
from tests.demo.recorder import TOKEN, RecordedApi
from tests.servers.smtp import SmtpSink

SECRET = webhooks.new_secret()
Start = Callable[[], Runtime]


@pytest.fixture
def api() -> Iterator[RecordedApi]:
    with RecordedApi() as server:
        yield server


@pytest.fixture
def mail() -> Iterator[SmtpSink]:
    with SmtpSink() as server:
        yield server


@pytest.fixture
def config(api: RecordedApi, mail: SmtpSink, tmp_path: Path) -> Config:
    where = ("127.0.0.1", 0, "127.0.0.1", mail.port, str(tmp_path / "state.json"))
    return Config(api.url, TOKEN, SECRET, *where)


@pytest.fixture
def said() -> list[str]:
    """What the runtimes of this test said."""
    return []


@pytest.fixture
def start(config: Config, said: list[str]) -> Iterator[Start]:
    """Starts a runtime without pauses; one that is still running is stopped at the end."""
    started: list[tuple[Runtime, threading.Thread]] = []

    def start() -> Runtime:
        runtime = Runtime(config, said.append, pace_s=0, heartbeat_s=0.05, retry_s=0.05)
        runtime.start()
        waiting = threading.Thread(target=runtime.wait)
        waiting.start()
        started.append((runtime, waiting))
        return runtime

    yield start
    for runtime, waiting in started:
        runtime.stop()
        waiting.join(10)
