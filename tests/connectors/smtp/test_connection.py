"""One connection for a batch: kept after a refusal, replaced after a loss, secured and signed in as asked."""

import time
from pathlib import Path
from typing import Any

import pytest

from approvals.connectors.smtp import Channel, SmtpOutcome, SmtpSettings
from tests.connectors.smtp.test_channel import LONG, message, settings
from tests.servers.smtp import Act, Drip, Drop, Fault, Hang, Phase, Say, SmtpSink
from tests.servers.tls import server_context


def kinds(channel: Channel, count: int) -> list[str]:
    return [channel.send(message(number)).kind for number in range(1, count + 1)]


def everybody(count: int) -> list[str]:
    return [f"p{number}@example.test" for number in range(1, count + 1)]


def test_a_batch_goes_over_one_connection_and_ends_politely() -> None:
    with SmtpSink() as sink:
        with Channel(settings(sink)) as channel:
            assert channel.open() is None
            assert kinds(channel, 5) == ["sent"] * 5
        assert sink.connections == 1
        assert sink.recipients == everybody(5)
        assert sink.said[-1] == (1, "QUIT")


@pytest.mark.parametrize("phase", ["rcpt", "data", "dot"])
@pytest.mark.parametrize(("code", "kind"), [(450, "not_sent"), (550, "failed")])
def test_after_a_refusal_the_others_go_on_over_the_same_connection(
    phase: Phase, code: int, kind: str
) -> None:
    with SmtpSink([Fault(phase, 2, Say(b"%d no\r\n" % code))]) as sink, Channel(settings(sink)) as channel:
        assert kinds(channel, 3) == ["sent", kind, "sent"]
        assert sink.connections == 1
        assert sink.recipients == ["p1@example.test", "p3@example.test"]
        assert [words for _, words in sink.said].count("RSET") == 1


def test_a_server_that_refuses_and_then_says_nothing_is_left_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("approvals.connectors.smtp.line.POLITE_S", 0.2)
    sink = SmtpSink([Fault("rcpt", 1, Say(b"550 no\r\n")), Fault("rset", 1, Hang())])
    with sink, Channel(settings(sink)) as channel:
        began = time.monotonic()
        assert kinds(channel, 2) == ["failed", "sent"]
        assert time.monotonic() - began < 1
        assert sink.connections == 2


@pytest.mark.parametrize("phase", ["rcpt", "data", "dot"])
@pytest.mark.parametrize("loss", [Drop(keep=False), Drop(keep=False, rudely=True), Say(b"421 later\r\n")])
def test_after_a_loss_the_others_go_on_over_a_new_connection(phase: Phase, loss: Act) -> None:
    lost = "in_doubt" if phase == "dot" and isinstance(loss, Drop) else "not_sent"
    with SmtpSink([Fault(phase, 2, loss)]) as sink, Channel(settings(sink)) as channel:
        assert kinds(channel, 3) == ["sent", lost, "sent"]
        assert sink.connections == 2
        assert sink.recipients == ["p1@example.test", "p3@example.test"]


def test_a_message_in_doubt_may_have_been_taken_and_is_never_sent_again() -> None:
    with SmtpSink([Fault("dot", 2, Drop(keep=True))]) as sink, Channel(settings(sink)) as channel:
        assert kinds(channel, 3) == ["sent", "in_doubt", "sent"]
        assert sink.recipients == everybody(3)


@pytest.mark.parametrize(
    "farewell",
    [Drop(), Drop(rudely=True), Say(b"421 you were idle\r\n", drop=True), Say(b"221 bye\r\n", drop=True)],
)
def test_a_connection_that_was_closed_while_idle_costs_no_message(farewell: Act) -> None:
    with SmtpSink([Fault("idle", 2, farewell)]) as sink, Channel(settings(sink)) as channel:
        assert kinds(channel, 2) == ["sent", "sent"]
        time.sleep(0.1)
        assert channel.send(message(3)).kind == "sent"
        assert sink.recipients == everybody(3)
        assert sink.connections == 2


def test_a_server_that_says_421_to_everybody_is_tried_once_more_and_then_left() -> None:
    with SmtpSink([Fault("mail", 2, Say(b"421 too much\r\n"), on=True)]) as sink:
        with Channel(settings(sink)) as channel:
            assert channel.send(message(1)).kind == "sent"
            assert channel.send(message(2)) == SmtpOutcome("not_sent", "mail", 421, "too much", True)
        assert sink.connections == 2


def test_a_channel_that_could_not_open_can_open_later() -> None:
    with SmtpSink([Fault("connect", 1, Say(b"421 full\r\n"))]) as sink, Channel(settings(sink)) as channel:
        assert channel.open() == SmtpOutcome("not_sent", "connect", 421, "full", True)
        assert channel.open() is None
        assert channel.send(message()).kind == "sent"


def test_a_server_that_does_not_say_goodbye_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("approvals.connectors.smtp.line.POLITE_S", 0.2)
    with SmtpSink([Fault("idle", 1, Hang())]) as sink:
        channel = Channel(settings(sink))
        channel.send(message())
        began = time.monotonic()
        channel.close()
        channel.close()
        assert time.monotonic() - began < 0.5


def test_a_server_that_knows_only_helo_is_greeted_with_it() -> None:
    with SmtpSink([Fault("helo", 1, Say(b"502 what?\r\n"))]) as sink, Channel(settings(sink)) as channel:
        assert channel.send(message()).kind == "sent"
        greetings = [words.split() for _, words in sink.said[:2]]
        assert greetings == [["ehlo", "[127.0.0.1]"], ["helo", "[127.0.0.1]"]]


def test_the_size_is_announced_to_a_server_that_asks_for_it() -> None:
    for extensions, said in ((["SIZE 1000"], " SIZE=61"), ([], "")):
        with SmtpSink(extensions=extensions) as sink, Channel(settings(sink)) as channel:
            assert channel.send(message()).kind == "sent"
            assert (1, f"MAIL FROM:<news@example.test>{said}") in sink.said


LOGIN = ("secondlook", "s3cret")


def secured(sink: SmtpSink, **changes: Any) -> SmtpSettings:
    given = {"username": LOGIN[0], "password": LOGIN[1], "timeout_s": 2.0}
    return SmtpSettings("localhost", sink.port, **{**given, **changes})


def trusted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    context = server_context(folder)
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "cert.pem"))
    return context


def test_a_channel_signs_in_under_starttls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SmtpSink(starttls=trusted(tmp_path, monkeypatch), login=LOGIN) as sink:
        with Channel(secured(sink, use_tls=True)) as channel:
            assert kinds(channel, 2) == ["sent", "sent"]
        verbs = [words.split()[0].upper() for _, words in sink.said]
        assert verbs[:4] == ["EHLO", "STARTTLS", "EHLO", "AUTH"]


def test_a_channel_signs_in_under_tls_from_the_first_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = SmtpSink(tls=trusted(tmp_path, monkeypatch), login=LOGIN)
    with sink, Channel(secured(sink, use_ssl=True)) as channel:
        assert kinds(channel, 2) == ["sent", "sent"]


@pytest.mark.parametrize(("phase", "kind"), [("body", "not_sent"), ("dot", "in_doubt")])
def test_under_tls_too_the_dot_is_the_edge(
    phase: Phase, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = SmtpSink([Fault(phase, 1, Hang())], tls=trusted(tmp_path, monkeypatch))
    with sink, Channel(secured(sink, use_ssl=True, username="", timeout_s=2.0)) as channel:
        outcome = channel.send(message(raw=LONG if phase == "body" else b"x"))
        assert (outcome.kind, outcome.phase) == (kind, phase)


def test_a_wrong_password_is_trouble_of_the_whole_channel() -> None:
    with SmtpSink(login=LOGIN) as sink, Channel(secured(sink, password="wrong")) as channel:
        expected = SmtpOutcome("not_sent", "auth", 535, "wrong name or password", True)
        assert channel.send(message()) == expected


def test_a_password_that_cannot_be_sent_is_said_without_telling_it() -> None:
    with SmtpSink(login=LOGIN) as sink, Channel(secured(sink, password="schlüssel")) as channel:
        outcome = channel.send(message())
    assert (outcome.kind, outcome.phase, outcome.channel_wide) == ("not_sent", "auth", True)
    assert outcome.reply == "the user name or password has letters that cannot be sent"
    assert "schlüssel" not in repr(secured(sink, password="schlüssel"))


def test_a_server_without_sign_in_gets_no_message_from_a_channel_that_must_sign_in() -> None:
    with SmtpSink() as sink, Channel(secured(sink)) as channel:
        outcome = channel.send(message())
        assert (outcome.kind, outcome.phase, outcome.channel_wide) == ("not_sent", "auth", True)
        assert sink.accepted == []


def test_a_server_without_starttls_gets_neither_password_nor_message() -> None:
    with SmtpSink(login=LOGIN) as sink, Channel(secured(sink, use_tls=True)) as channel:
        outcome = channel.send(message())
        assert (outcome.kind, outcome.phase, outcome.channel_wide) == ("not_sent", "tls", True)
        assert not any(words.upper().startswith(("AUTH", "MAIL")) for _, words in sink.said)


@pytest.mark.parametrize("ways", [{"use_tls": True}, {"use_ssl": True}])
def test_a_certificate_that_is_not_trusted_stops_the_channel(ways: dict[str, bool], tmp_path: Path) -> None:
    context = server_context(tmp_path)
    sink = SmtpSink(tls=context) if "use_ssl" in ways else SmtpSink(starttls=context)
    with sink, Channel(secured(sink, **ways)) as channel:
        outcome = channel.send(message())
    assert (outcome.kind, outcome.channel_wide) == ("not_sent", True)
    assert "certificate verify failed" in outcome.reply


@pytest.mark.parametrize("act", [Hang(), Drip(), Drop()])
def test_a_server_that_is_lost_while_turning_to_tls_is_trouble_of_the_whole_channel(
    act: Act, tmp_path: Path
) -> None:
    sink = SmtpSink([Fault("tls", 1, act)], starttls=server_context(tmp_path))
    with sink, Channel(secured(sink, use_tls=True, timeout_s=0.5)) as channel:
        began = time.monotonic()
        outcome = channel.send(message())
        assert time.monotonic() - began < 1
    assert (outcome.kind, outcome.phase, outcome.channel_wide) == ("not_sent", "tls", True)


def test_words_slipped_in_before_tls_are_not_taken_for_words_under_tls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slipped = Fault("tls", 1, Say(b"220 go on\r\n250-sink\r\n250 AUTH PLAIN\r\n"))
    sink = SmtpSink([slipped], starttls=trusted(tmp_path, monkeypatch), login=LOGIN)
    with sink, Channel(secured(sink, use_tls=True)) as channel:
        outcome = channel.send(message())
    assert (outcome.kind, outcome.channel_wide) == ("not_sent", True)
    assert outcome.reply == "the server spoke out of turn"
