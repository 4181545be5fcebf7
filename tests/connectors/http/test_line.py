"""What counts as sent: the edge is the first byte that the network took, under TLS too."""

import socket
import time
from pathlib import Path
from typing import Any

import pytest

from approvals.connectors import net
from approvals.connectors.http import Outcome, start_replay
from tests.connectors.http.given import order, outcome_of
from tests.servers.http import HttpServer, ResetAtOnce, StopReading
from tests.servers.listener import reset, unused_port
from tests.servers.tls import server_context

LARGE = {"input": "x" * 20_000_000}  # more than the network takes without somebody reading it


def test_a_request_that_is_read_only_in_part_is_in_doubt() -> None:
    assert outcome_of(StopReading(), timeout_s=0.5, payload=LARGE).kind == "in_doubt"


def test_a_refusal_that_comes_before_the_whole_request_was_read_is_heard() -> None:
    class Impatient(HttpServer):
        def serve(self, sock: socket.socket, number: int) -> None:
            sock.recv(1000)
            sock.sendall(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
            time.sleep(0.1)
            reset(sock)

    with Impatient() as server:
        assert start_replay(order(server.url, payload=LARGE)).kind == "refused"


def test_a_runtime_that_is_not_there_was_sent_nothing() -> None:
    outcome = start_replay(order(f"http://127.0.0.1:{unused_port()}"))
    assert outcome == Outcome(
        "refused", "The runtime could not be reached: the connection was refused; nothing was sent."
    )


def test_after_a_reset_before_the_first_byte_nothing_was_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = net.connect

    def connect_and_wait_for_the_reset(*args: Any) -> socket.socket:
        sock = real(*args)
        time.sleep(0.2)
        return sock

    monkeypatch.setattr(net, "connect", connect_and_wait_for_the_reset)
    outcome = outcome_of(ResetAtOnce())
    assert outcome == Outcome(
        "refused", "The runtime could not be reached: the connection was broken off; nothing was sent."
    )


def test_a_reset_between_two_pieces_of_the_request_is_told_as_a_broken_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = net.send

    def send_and_wait_for_the_reset(*args: Any) -> int:
        sent = real(*args)
        time.sleep(0.2)
        return sent

    class AfterTheFirstPiece(HttpServer):
        def serve(self, sock: socket.socket, number: int) -> None:
            sock.recv(1000)
            reset(sock)

    monkeypatch.setattr(net, "send", send_and_wait_for_the_reset)
    with AfterTheFirstPiece() as server:
        outcome = start_replay(order(server.url))
    assert outcome == Outcome(
        "in_doubt",
        "The connection broke after the request was sent, so whether it started the run is not known.",
    )


def test_a_secret_that_cannot_sign_sends_nothing_and_stays_secret() -> None:
    with HttpServer() as server:
        outcome = start_replay(order(server.url, secret="hunter2"))
        assert server.connections == 0
    assert outcome.kind == "refused"
    assert "hunter2" not in outcome.detail
    assert "hunter2" not in repr(order(server.url, secret="hunter2"))


def test_no_time_left_sends_nothing() -> None:
    with HttpServer() as server:
        assert start_replay(order(server.url, timeout_s=0)).kind == "refused"
        assert server.requests == []


def test_a_runtime_behind_tls_is_called_when_its_certificate_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HttpServer(tls=server_context(tmp_path)) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        assert start_replay(order(server.url)).kind == "accepted"
        assert start_replay(order(f"https://localhost:{server.port}")).kind == "accepted"


def test_a_runtime_whose_certificate_is_not_trusted_was_sent_nothing(tmp_path: Path) -> None:
    with HttpServer(tls=server_context(tmp_path)) as server:
        outcome = start_replay(order(server.url))
        assert server.requests == []
    assert outcome.kind == "refused"
    assert "certificate verify failed" in outcome.detail


def test_a_runtime_that_stalls_in_the_tls_handshake_was_sent_nothing() -> None:
    with HttpServer([StopReading()]) as server:
        began = time.monotonic()
        outcome = start_replay(order(server.url.replace("http:", "https:"), timeout_s=0.5))
        assert time.monotonic() - began < 1.5
    assert outcome == Outcome(
        "refused", "The runtime could not be reached: it took too long; nothing was sent."
    )
