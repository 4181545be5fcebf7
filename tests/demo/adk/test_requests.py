"""The scripted model's book of requests."""

from pathlib import Path

import pytest

from dashboard.demo.adk.served.reference.requests import VARIABLE, Book, Request


def request(user: str = "ada", answer: str = "Calls", agent: str = "support") -> Request:
    return Request(user, "s-1", "e-1", agent, "normal", answer, streaming=False)


def test_what_was_written_is_read_by_whoever_opens_the_book_later(tmp_path: Path) -> None:
    path = tmp_path / "book"

    Book(path).write(request(answer="Calls"))
    Book(path).write(request(answer="Say"))

    assert [one.answer for one in Book(path).all()] == ["Calls", "Say"]


def test_the_earlier_requests_are_those_of_one_user_agent_and_script(tmp_path: Path) -> None:
    book = Book(tmp_path / "book")
    for one in (request(), request(user="bob"), request(agent="mailer"), request()):
        book.write(one)

    assert book.earlier("ada", "support", "normal") == [request(), request()]
    assert book.earlier("ada", "support", "slow") == []


def test_a_line_that_was_cut_short_by_a_kill_is_no_request(tmp_path: Path) -> None:
    path = tmp_path / "book"
    Book(path).write(request())
    with path.open("a") as file:
        file.write('{"user": "ad')

    assert Book(path).all() == [request()]


def test_without_a_file_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)

    Book().write(request())

    assert Book().all() == []
