"""Which addresses are called, and where the call really goes."""

import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from approvals.connectors.http import Outcome, start_replay
from tests.connectors.http.given import order
from tests.servers.http import HttpServer


def test_a_name_that_is_not_known_was_sent_nothing() -> None:
    host = "nowhere.invalid"
    outcome = start_replay(order(f"http://{host}", allowed_hosts={host}))
    assert outcome.kind == "refused"
    assert outcome.detail.startswith("The runtime nowhere.invalid was not found: ")
    assert outcome.detail.endswith("; nothing was sent.")


def test_a_resolver_that_hangs_is_waited_for_no_longer_than_the_call_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: [over.wait(20)][:0])
    began = time.monotonic()
    outcome = start_replay(order("http://localhost", timeout_s=0.3))
    over.set()
    assert time.monotonic() - began < 1
    assert outcome == Outcome(
        "refused", "The runtime localhost was not found: it took too long; nothing was sent."
    )


def test_a_name_is_looked_up_once_and_that_address_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = socket.getaddrinfo

    def only_once(host: str, *args: Any, **options: Any) -> Any:
        asked.append(host)
        return real("127.0.0.1" if len(asked) == 1 else "192.0.2.1", *args, **options)

    with HttpServer() as server:
        monkeypatch.setattr(socket, "getaddrinfo", only_once)
        outcome = start_replay(
            order(f"http://agents.example.test:{server.port}", allowed_hosts=["agents.example.test"])
        )
        assert outcome.kind == "accepted"
        assert server.requests[0].headers["host"] == f"agents.example.test:{server.port}"
    assert asked == ["agents.example.test"]


def test_proxies_in_the_environment_play_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    with HttpServer() as proxy, HttpServer() as server:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert start_replay(order(server.url)).kind == "accepted"
        assert (proxy.connections, server.connections) == (0, 1)


@pytest.mark.parametrize(
    ("base_url", "allowed_hosts", "reason"),
    [
        ("ftp://127.0.0.1", {"127.0.0.1"}, "The runtime's address must begin with http:// or https://"),
        ("file:///etc/passwd", {""}, "The runtime's address must begin with http:// or https://"),
        ("127.0.0.1:80", {"127.0.0.1"}, "The runtime's address must begin with http:// or https://"),
        ("http://", {""}, "The runtime's address names no host"),
        ("", {""}, "The runtime's address must begin with http:// or https://"),
        ("http://[::1", {"::1"}, "The runtime's address is not a web address"),
        ("http://127.0.0.1:0", {"127.0.0.1"}, "The runtime's address holds a port that does not exist"),
        ("http://127.0.0.1:99999", {"127.0.0.1"}, "The runtime's address holds a port that does not exist"),
        ("http://127.0.0.1\r\nx", {"127.0.0.1"}, "The runtime's address is not a web address"),
        (
            "http://me:secret@127.0.0.1",
            {"127.0.0.1"},
            "The runtime's address must not hold a user name or password",
        ),
        (
            "http://127.0.0.1@192.0.2.1/",
            {"127.0.0.1"},
            "The runtime's address must not hold a user name or password",
        ),
        (
            "http://127.0.0.1/?to=",
            {"127.0.0.1"},
            "The runtime's address must not hold a query or a fragment",
        ),
        (
            "http://127.0.0.1/#",
            {"127.0.0.1"},
            "The runtime's address must not hold a query or a fragment",
        ),
        (
            "http://192.0.2.1/",
            {"127.0.0.1"},
            "The host 192.0.2.1 is not one of the runtimes that an admin has added",
        ),
        (
            "http://127.0.0.1:81/",
            {"127.0.0.1:80"},
            "The host 127.0.0.1 is not one of the runtimes that an admin has added",
        ),
        ("http://127.0.0.1/", (), "The host 127.0.0.1 is not one of the runtimes that an admin has added"),
    ],
)
def test_an_address_that_may_not_be_called_is_not_called(
    base_url: str, allowed_hosts: Any, reason: str
) -> None:
    outcome = start_replay(order(base_url, allowed_hosts=allowed_hosts))
    assert outcome == Outcome("refused", f"{reason}; nothing was sent.")


@pytest.mark.parametrize(
    "entry", [lambda port: "LOCALHOST.", lambda port: f"localhost:{port}", lambda port: "localhost"]
)
def test_a_host_is_allowed_by_its_name_with_or_without_its_port(entry: Callable[[int], str]) -> None:
    with HttpServer() as server:
        outcome = start_replay(order(f"http://Localhost:{server.port}", allowed_hosts=[entry(server.port)]))
    assert outcome.kind == "accepted"
