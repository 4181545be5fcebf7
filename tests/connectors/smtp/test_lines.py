"""Several connections at once: the dot waits for its release, and one that is slow keeps the others going."""

import time

import pytest

from approvals.connectors.smtp import Lines
from tests.connectors.smtp.test_channel import message, settings
from tests.servers.smtp import Fault, Hang, Late, Say, SmtpSink

WAYS = [["SIZE 10000000", "PIPELINING"], []]


@pytest.fixture(params=WAYS, ids=["pipelining", "step by step"])
def sink(request):
    with SmtpSink(extensions=request.param) as server:
        yield server


def soon(seconds=5):
    return time.monotonic() + seconds


def hand_over(lines, *numbers):
    """Offer and release; the kind of each outcome by its number."""
    for number in numbers:
        lines.offer(number, message(number))
        lines.release(number)
    ended = {}
    while lines.busy or len(ended) < len(numbers):
        ended |= {key: outcome.kind for key, outcome in lines.collect(deadline=soon())}
    return ended


def test_messages_go_out_side_by_side(sink):
    with Lines(settings(sink), 3) as lines:
        assert (lines.open(), lines.free()) == (None, 3)
        for number in (1, 2, 3):
            lines.offer(number, message(number))
        end = soon()
        while [line for _, line in sink.said].count("DATA") < 3 and time.monotonic() < end:
            lines.move()
        for number in (1, 2, 3):
            lines.release(number)
        ended: dict[object, str] = {}
        while len(ended) < 3:
            ended |= {key: outcome.kind for key, outcome in lines.collect(deadline=soon())}
        assert ended == dict.fromkeys((1, 2, 3), "sent")
        assert hand_over(lines, 4, 5, 6) == dict.fromkeys((4, 5, 6), "sent")
    assert sink.connections == 3
    assert len(set(sink.recipients)) == 6


def test_without_its_release_a_message_has_no_end(sink):
    with Lines(settings(sink), 1) as lines:
        lines.offer(1, message(1))
        assert lines.collect(deadline=time.monotonic() + 0.3) == []
        assert ([line for _, line in sink.said][-1], sink.recipients) == ("DATA", [])
        lines.release(1)
        [(key, outcome)] = lines.collect(deadline=soon())
        assert (key, outcome.kind) == (1, "sent")


def test_a_message_that_is_withdrawn_is_never_taken_and_its_connection_goes(sink):
    with Lines(settings(sink), 1) as lines:
        lines.offer(1, message(1))
        lines.collect(deadline=time.monotonic() + 0.2)
        lines.withdraw(1)
        assert not lines.busy
        assert hand_over(lines, 2) == {2: "sent"}
    assert (sink.recipients, sink.connections) == (["p2@example.test"], 2)


def test_a_slow_answer_keeps_the_others_for_a_moment_only(sink):
    sink.faults.append(Fault("dot", 1, Hang()))
    with Lines(settings(sink, 2), 2) as lines:
        lines.open()
        lines.offer(1, message(1))
        lines.release(1)
        assert lines.collect(deadline=time.monotonic() + 0.2) == []
        began = time.monotonic()
        for number in range(2, 12):
            lines.offer(number, message(number))
            lines.release(number)
            assert [(key, one.kind) for key, one in lines.collect(deadline=soon())] == [(number, "sent")]
        assert time.monotonic() - began < 1
        [(key, outcome)] = lines.collect(deadline=soon())
        assert (key, outcome.kind, outcome.reply) == (1, "in_doubt", "it took too long")


def test_refused_one_connection_the_others_do(sink):
    sink.faults.append(Fault("connect", 2, Say(b"421 one is enough\r\n"), on=True))
    with Lines(settings(sink), 4) as lines:
        lines.open()
        assert hand_over(lines, 1, 2, 3, 4) == dict.fromkeys((1, 2, 3, 4), "sent")
        end = soon()
        while lines.free() > 1 and time.monotonic() < end:  # the last dialling may not be over yet
            lines.move()
        assert lines.free() == 1


def test_a_connection_that_has_not_recovered_from_a_refusal_is_waited_for():
    sink = SmtpSink(
        [Fault("rcpt", 1, Say(b"550 no such box\r\n")), Fault("rset", 1, Late(0.05))], extensions=[]
    )
    with sink, Lines(settings(sink), 1) as lines:
        lines.offer(1, message(1))
        lines.release(1)
        [(_, outcome)] = lines.collect(deadline=soon())
        assert (outcome.kind, lines.busy, lines.free()) == ("failed", True, 0)
        while lines.busy:
            lines.collect(deadline=soon())
        assert lines.free() == 1
    assert sink.connections == 1


def test_a_server_that_wants_the_message_of_a_refused_recipient_gets_no_end_of_it():
    """With PIPELINING it may answer DATA although it refused: then the connection goes, and nothing is taken."""
    sink = SmtpSink([Fault("rcpt", 1, Say(b"550 no such box\r\n"))], extensions=WAYS[0])
    with sink, Lines(settings(sink), 1) as lines:
        assert hand_over(lines, 1, 2) == {1: "failed", 2: "sent"}
    assert (sink.recipients, sink.connections) == (["p2@example.test"], 2)
