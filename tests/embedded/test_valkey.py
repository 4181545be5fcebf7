"""The embedded broker."""

import signal
import time

import pytest
import redis

from dashboard.embedded import valkey as module
from dashboard.embedded.home import Home
from dashboard.embedded.processes import Processes
from dashboard.embedded.trouble import Trouble
from dashboard.embedded.valkey import Valkey


@pytest.fixture
def valkey(home: Home, processes: Processes) -> Valkey:
    return Valkey(home, processes, "a-password")


def test_what_was_queued_outlives_kill_9(valkey: Valkey) -> None:
    child = valkey.wait(valkey.start())
    with redis.Redis.from_url(valkey.url) as client:
        client.rpush("queue", *range(100))
        time.sleep(1.2)  # it is written at least once a second
    child.process.send_signal(signal.SIGKILL)
    valkey.processes.forget(child)

    valkey.wait(valkey.start())
    with redis.Redis.from_url(valkey.url) as client:
        assert client.llen("queue") == 100


def test_it_drops_nothing_and_lets_nobody_in_without_the_password(valkey: Valkey) -> None:
    valkey.wait(valkey.start())
    with redis.Redis.from_url(valkey.url) as client:
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    with redis.Redis(port=valkey.port) as stranger, pytest.raises(redis.AuthenticationError):
        stranger.ping()


def test_a_port_taken_meanwhile_is_no_obstacle(valkey: Valkey, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Valkey(valkey.home, valkey.processes, "another-password")
    other.wait(other.start())
    ports = iter([other.port, module.free_port()])
    monkeypatch.setattr(module, "free_port", lambda: next(ports))
    valkey.wait(valkey.start())
    assert valkey.port != other.port


def test_one_that_cannot_start_says_why(valkey: Valkey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "START_S", 0.5)
    monkeypatch.setattr(module, "CONFIG", "nonsense\n")
    with pytest.raises(Trouble, match="Valkey does not start"):
        valkey.wait(valkey.start())
