"""The mail catcher as a process, and the folder it fills."""

import smtplib
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.conf import settings

from dashboard.embedded import mailbox, programs
from dashboard.embedded.processes import Processes

MAIL = b"Subject: hello\r\n\r\nOne line.\r\n.a line that begins with a dot\r\n"


@pytest.fixture
def folder_of_mail(tmp_path: Path) -> Path:
    return tmp_path / "mail"


@pytest.fixture
def port(processes: Processes, folder_of_mail: Path) -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        command = programs.catcher(listening.fileno(), str(folder_of_mail))
        processes.start(
            "catcher", [sys.executable, *command], cwd=settings.BASE_DIR, fds=[listening.fileno()]
        )
        yield listening.getsockname()[1]


def test_a_message_is_kept_byte_for_byte_with_its_envelope(port: int, folder_of_mail: Path) -> None:
    with smtplib.SMTP("127.0.0.1", port, timeout=20) as client:
        client.sendmail("from@example.org", ["one@example.org", "two@example.org"], MAIL)
    (caught,) = mailbox.read_all(folder_of_mail)
    assert caught.raw == MAIL
    assert caught.sender == "from@example.org"
    assert caught.recipients == ("one@example.org", "two@example.org")
    assert mailbox.read(folder_of_mail, caught.name) == caught


def test_many_at_once_are_each_kept_once(port: int, folder_of_mail: Path) -> None:
    def send(number: int) -> None:
        with smtplib.SMTP("127.0.0.1", port, timeout=20) as client:
            client.sendmail("a@example.org", [f"{number}@example.org"], MAIL)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(send, range(40)))
    caught = list(mailbox.read_all(folder_of_mail))
    assert sorted(message.recipients for message in caught) == sorted(
        (f"{n}@example.org",) for n in range(40)
    )
    assert not list(folder_of_mail.glob("*.half"))


def test_an_address_outside_ascii_is_kept(tmp_path: Path) -> None:
    name = mailbox.store(tmp_path, "jürgen@example.org", ["ö@example.org"], b"x")
    caught = mailbox.read(tmp_path, name)
    assert caught
    assert caught.recipients == ("ö@example.org",)


@pytest.mark.parametrize("name", ["../secrets", "", "nothing", "/etc/passwd"])
def test_a_name_that_is_no_message_finds_nothing(tmp_path: Path, name: str) -> None:
    mailbox.store(tmp_path, "a@example.org", ["b@example.org"], b"x")
    assert mailbox.read(tmp_path, name) is None


def test_a_message_that_is_only_half_there_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text("{}")
    (tmp_path / "1.eml.half").write_bytes(b"x")
    assert mailbox.names(tmp_path) == []


def test_no_folder_is_no_mail(tmp_path: Path) -> None:
    assert mailbox.names(tmp_path / "none") == []
