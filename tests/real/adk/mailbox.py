"""A real mail server (aiosmtpd) that counts: every e-mail with its recipient and the id of the call that sent it."""

import threading
import time
from dataclasses import dataclass
from email import message_from_bytes
from typing import Any

from aiosmtpd.controller import Controller

from dashboard.demo.adk.served.reference.mail import CALL_HEADER
from dashboard.embedded.postgres import free_port

PATIENCE_S = 20.0


@dataclass(frozen=True)
class Mail:
    recipient: str
    call_id: str
    raw: bytes


class Mailbox:
    """`mails` is what arrived, in order."""

    def __init__(self) -> None:
        self.mails: list[Mail] = []
        self._news = threading.Condition()
        self._port = free_port()  # this server cannot be told to choose
        self._controller = Controller(self, hostname="127.0.0.1", port=self._port)

    def __enter__(self) -> "Mailbox":
        self._controller.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._controller.stop()

    @property
    def address(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self._port}"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        message = message_from_bytes(envelope.content)
        with self._news:
            for recipient in envelope.rcpt_tos:
                self.mails.append(Mail(recipient, str(message[CALL_HEADER]), envelope.content))
            self._news.notify_all()
        return "250 taken"

    def about(self, customer: str) -> list[Mail]:
        """What was sent to one customer, copies included."""
        with self._news:
            return [mail for mail in self.mails if f"{customer.lower()}@" in mail.recipient]

    def wait_for(self, customer: str, count: int = 1) -> list[Mail]:
        """The e-mails to a customer, once there are so many."""
        end = time.monotonic() + PATIENCE_S
        while len(found := self.about(customer)) < count:
            assert time.monotonic() < end, f"{len(found)} e-mails to {customer}, not {count}"
            with self._news:
                self._news.wait(0.2)
        return found
