"""What a channel says came of a message, for every phase and every way to lose it."""

import itertools
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from approvals.connectors import net
from approvals.connectors.smtp import Channel, Message, SmtpOutcome, SmtpSettings
from tests.servers.listener import unused_port
from tests.servers.smtp import Act, Drip, Drop, Fault, Hang, Phase, Say, SmtpSink

# More than the network takes without somebody reading it.
LONG = b"Subject: Long\r\n\r\n" + b"x" * 20_000_000
BODY = b"Subject: Hello\r\nMessage-ID: <%d@news.example.test>\r\n\r\nHello.\r\n"


def message(number: int = 1, raw: bytes | None = None) -> Message:
    return Message("news@example.test", f"p{number}@example.test", BODY % number if raw is None else raw)


def settings(sink: SmtpSink, timeout_s: float = 5) -> SmtpSettings:
    return SmtpSettings("127.0.0.1", sink.port, timeout_s=timeout_s)


def outcome_of(sink: SmtpSink, timeout_s: float = 5) -> SmtpOutcome:
    with sink, Channel(settings(sink, timeout_s)) as channel:
        return channel.send(message())


@pytest.fixture
def sink() -> Iterator[SmtpSink]:
    with SmtpSink() as server:
        yield server


def test_a_message_that_the_server_takes_is_sent(sink: SmtpSink) -> None:
    with Channel(settings(sink)) as channel:
        assert channel.send(message()) == SmtpOutcome("sent", "dot", 250, "taken", False)
    [taken] = sink.accepted
    assert (taken.sender, taken.recipient) == ("news@example.test", "p1@example.test")
    assert taken.raw == BODY % 1
    assert taken.message_id == "<1@news.example.test>"


@pytest.mark.parametrize(
    ("phase", "code", "kind", "channel_wide"),
    [
        ("connect", 421, "not_sent", True),
        ("connect", 450, "not_sent", True),
        ("connect", 554, "not_sent", True),
        ("helo", 421, "not_sent", True),
        ("helo", 450, "not_sent", True),
        ("mail", 421, "not_sent", True),
        ("mail", 451, "not_sent", True),
        ("mail", 454, "not_sent", True),
        ("mail", 530, "not_sent", True),
        ("rcpt", 421, "not_sent", True),
        ("rcpt", 450, "not_sent", False),
        ("rcpt", 550, "failed", False),
        ("data", 250, "not_sent", False),
        ("data", 421, "not_sent", True),
        ("data", 451, "not_sent", False),
        ("data", 554, "failed", False),
        ("body", 421, "not_sent", True),
        ("body", 452, "not_sent", False),
        ("body", 552, "failed", False),
        ("dot", 421, "not_sent", True),
        ("dot", 451, "not_sent", False),
        ("dot", 554, "failed", False),
        ("dot", 354, "in_doubt", False),
    ],
)
def test_each_refusal_has_one_meaning(phase: Phase, code: int, kind: str, channel_wide: bool) -> None:
    sink = SmtpSink([Fault(phase, 1, Say(b"%d-no,\r\n%d really\r\n" % (code, code)))])
    with sink, Channel(settings(sink)) as channel:
        outcome = channel.send(message(raw=LONG if phase == "body" else None))
    assert outcome == SmtpOutcome(kind, phase, code, "no, really", channel_wide)  # type: ignore[arg-type]
    assert sink.accepted == []


ANSWERED: list[Phase] = ["connect", "helo", "mail", "rcpt", "data"]
LOSSES = [Drop(), Drop(rudely=True), Hang(), Drip(), Say(b"25", drop=True)]
IN_THE_BODY: list[tuple[Phase, Act]] = [("body", loss) for loss in (Drop(), Drop(rudely=True), Hang())]


@pytest.mark.parametrize(("phase", "loss"), [*itertools.product(ANSWERED, LOSSES), *IN_THE_BODY])
def test_a_message_lost_before_its_dot_was_not_sent(phase: Phase, loss: Act) -> None:
    sink = SmtpSink([Fault(phase, 1, loss)])
    with sink, Channel(settings(sink, 2 if phase == "body" else 1)) as channel:
        outcome = channel.send(message(raw=LONG if phase == "body" else None))
    assert (outcome.kind, outcome.phase, outcome.code) == ("not_sent", phase, None)
    assert outcome.channel_wide is (phase in ("connect", "helo"))
    assert outcome.reply in ("it took too long", "the connection was broken off")
    assert sink.accepted == []


@pytest.mark.parametrize(
    "loss",
    [
        Drop(),
        Drop(rudely=True),
        Drop(keep=False),
        Hang(),
        Hang(keep=False),
        Drip(),
        Say(b"25", drop=True),
        Say(b"250 tak", drop=True),
        Say(b"250-taken\r\n", drop=True),
        Say(b"250-taken\r\n550 refused\r\n"),
        Say(b"200000 taken\r\n"),
        Say(b"hello\r\n"),
        Say(b"\r\n"),
        Say(b"150 soon\r\n"),
        Say(b"550 " + b"x" * 100_000 + b"\r\n"),
        Say(b"250-more\r\n" * 50_000),
    ],
)
def test_a_message_lost_after_its_dot_is_in_doubt(loss: Act) -> None:
    began = time.monotonic()
    outcome = outcome_of(SmtpSink([Fault("dot", 1, loss)]), timeout_s=1)
    assert time.monotonic() - began < 2
    assert (outcome.kind, outcome.phase, outcome.code) == ("in_doubt", "dot", None)
    assert outcome.channel_wide is False


@pytest.mark.parametrize(("taken", "kind", "phase"), [(0, "not_sent", "body"), (1, "in_doubt", "dot")])
def test_a_dot_that_breaks_off_is_in_doubt_once_the_network_took_a_byte_of_it(
    sink: SmtpSink, monkeypatch: pytest.MonkeyPatch, taken: int, kind: str, phase: Phase
) -> None:
    real = net.send_now

    def breaks_off(sock: socket.socket, data: Any) -> int:
        if bytes(data) == b".\r\n" and taken:
            return real(sock, data[:taken])
        if bytes(data) == b".\r\n"[taken:]:
            raise ConnectionResetError
        return real(sock, data)

    monkeypatch.setattr(net, "send_now", breaks_off)
    with Channel(settings(sink)) as channel:
        outcome = channel.send(message())
    assert (outcome.kind, outcome.phase) == (kind, phase)
    assert sink.accepted == []


def test_a_server_that_is_not_there_is_trouble_of_the_whole_channel() -> None:
    channel = Channel(SmtpSettings("127.0.0.1", unused_port()))
    refused = SmtpOutcome("not_sent", "connect", None, "the connection was refused", True)
    assert channel.open() == refused
    assert channel.send(message()) == refused


def test_a_name_that_is_not_known_is_trouble_of_the_whole_channel() -> None:
    outcome = Channel(SmtpSettings("mail.invalid", 25)).send(message())
    assert (outcome.kind, outcome.phase, outcome.channel_wide) == ("not_sent", "connect", True)


def test_a_server_that_answers_the_body_before_its_end_is_not_taken_at_its_word() -> None:
    for early in (b"250 taken\r\n", b"354 go on\r\n250 taken\r\n"):
        sink = SmtpSink([Fault("body", 1, Say(early))])
        with sink, Channel(settings(sink)) as channel:
            outcome = channel.send(message(raw=LONG))
            assert (outcome.kind, outcome.phase) == ("not_sent", "body")
            assert sink.accepted == []


def test_a_second_answer_nobody_asked_for_does_not_answer_the_next_command() -> None:
    sink = SmtpSink([Fault("data", 1, Say(b"354 go on\r\n250 taken\r\n"))])
    assert outcome_of(sink) == SmtpOutcome("not_sent", "body", None, "the server spoke out of turn", False)
    assert sink.accepted == []


def test_no_wait_goes_past_the_deadline_and_none_begins_after_it(sink: SmtpSink) -> None:
    with Channel(settings(sink)) as channel:
        assert channel.send(message(1)).kind == "sent"
        late = channel.send(message(2), deadline=time.monotonic() - 1)
        assert late == SmtpOutcome("not_sent", "mail", None, "there was no time left", False)
        sink.faults.append(Fault("rcpt", 2, Hang()))
        began = time.monotonic()
        assert channel.send(message(2), deadline=time.monotonic() + 0.4).kind == "not_sent"
        assert time.monotonic() - began < 0.8
    assert sink.recipients == ["p1@example.test"]


def test_time_is_kept_for_the_answer_to_the_dot() -> None:
    sink = SmtpSink([Fault("data", 1, Hang())])
    began = time.monotonic()
    assert outcome_of(sink, timeout_s=1).kind == "not_sent"
    assert 0.7 < time.monotonic() - began < 0.9


@pytest.mark.parametrize(
    "address",
    [
        "",
        "nobody",
        "a@",
        "a b@example.test",
        "a>@example.test",
        "<a@example.test",
        "ü@example.test",
        "a@example.test\r\nRCPT TO:<b@example.test>",
        "a@example.test> SIZE=1",
        "a\x00@example.test",
    ],
)
def test_an_address_that_would_mean_more_than_itself_is_never_said(sink: SmtpSink, address: str) -> None:
    with Channel(settings(sink)) as channel:
        to_nobody = channel.send(Message("news@example.test", address, b""))
        from_nobody = channel.send(Message(address, "p1@example.test", b""))
    assert to_nobody == SmtpOutcome("failed", "rcpt", None, "the address cannot be used", False)
    assert from_nobody == SmtpOutcome("not_sent", "mail", None, "the sender's address cannot be used", True)
    assert sink.connections == 0
