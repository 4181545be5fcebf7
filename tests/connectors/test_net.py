"""One deadline, one look-up, one connection."""

import socket
import time

import pytest

from approvals.connectors import net
from tests.servers.listener import Listener, unused_port


class Silent(Listener):
    def serve(self, sock: socket.socket, number: int) -> None:
        self.hang()


def test_a_deadline_tells_what_is_left_and_raises_when_nothing_is() -> None:
    deadline = net.Deadline.after(10)
    assert 9 < deadline.left() <= 10
    assert 4 < deadline.share(2).left() <= 5
    assert 7 < deadline.less(0.25).left() <= 7.5
    assert deadline.or_after(20) == deadline
    assert 0 < deadline.or_after(1).left() <= 1
    assert not deadline.passed()
    over = net.Deadline.after(-1)
    assert over.passed()
    assert over.less(0.25) == over
    with pytest.raises(TimeoutError):
        over.left()


def test_what_is_written_in_two_pieces_does_not_wait_for_an_answer_between_them() -> None:
    with Silent() as server:
        deadline = net.Deadline.after(5)
        with net.connect(net.resolve("127.0.0.1", server.port, deadline), deadline) as sock:
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1


def test_an_address_that_refuses_leaves_the_next_one_to_be_tried() -> None:
    with Silent() as server:
        deadline = net.Deadline.after(5)
        dead = net.resolve("127.0.0.1", unused_port(), deadline)
        alive = net.resolve("127.0.0.1", server.port, deadline)
        with net.connect([*dead, *alive], deadline) as sock:
            assert sock.getpeername()[1] == server.port
        with pytest.raises(ConnectionRefusedError):
            net.connect(dead, deadline)


def test_an_address_that_swallows_everything_gets_only_its_share_of_the_time() -> None:
    with socket.socket() as full, Silent() as server:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        endpoint = net.Endpoint(socket.AF_INET, full.getsockname())
        crowd = []
        for _ in range(4):  # nobody accepts: once the queue is full, further ones are not answered
            crowd.append(socket.socket())
            crowd[-1].setblocking(False)
            crowd[-1].connect_ex(full.getsockname())
        deadline = net.Deadline.after(1)
        began = time.monotonic()
        with net.connect([endpoint, *net.resolve("127.0.0.1", server.port, deadline)], deadline) as sock:
            assert sock.getpeername()[1] == server.port
        assert time.monotonic() - began < 0.7
        for one in crowd:
            one.close()


@pytest.mark.parametrize("host", ["", "nowhere.invalid", "a" * 70 + ".example", "ü" * 70, "a\x00b"])
def test_a_name_without_an_address_is_an_error_of_the_network(host: str) -> None:
    try:
        net.resolve(host, 80, net.Deadline.after(5))
    except OSError:
        return
    assert host == ""  # which the system takes for this machine


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (TimeoutError("timed out"), "it took too long"),
        (ConnectionRefusedError(111, "Connection refused"), "the connection was refused"),
        (BrokenPipeError(32, "Broken pipe"), "the connection was broken off"),
        (socket.gaierror(-2, "Name or service not known"), "its name is not known"),
        (OSError(113, "No route to host"), "No route to host"),
        (OSError("odd\n news."), "odd news"),
        (OSError(), "OSError"),
    ],
)
def test_an_error_of_the_network_is_told_in_plain_words(error: OSError, words: str) -> None:
    assert net.why(error) == words
