"""The tools of the demo's agents. `send_email` really sends; what the others do is kept nowhere."""

import smtplib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate
from typing import Any

from dashboard.demo.api import Api, Rejected
from dashboard.demo.campaign import campaign

SMTP_S = 10.0


@dataclass(frozen=True)
class Done:
    """What a tool gives back; `receipt` is the other side's proof, where it gives one."""

    result: dict[str, Any]
    receipt: str | None = None


class ToolFailed(Exception):
    """A tool could not do its work; the text says why."""


class Tools:
    """The tools by name, over one mail server and one API."""

    def __init__(self, api: Api, smtp_host: str, smtp_port: int) -> None:
        self._api = api
        self._smtp = (smtp_host, smtp_port)
        self._by_name = {
            "lookup_customer": self._lookup_customer,
            "send_email": self._send_email,
            "create_ticket": self._create_ticket,
            "propose_campaign": self._propose_campaign,
        }

    def use(self, name: str, args: Mapping[str, Any], *, run_id: str, call_id: str) -> Done:
        """Use a tool; raises ToolFailed."""
        return self._by_name[name](args, run_id, call_id)

    def _lookup_customer(self, args: Mapping[str, Any], run_id: str, call_id: str) -> Done:
        number = zlib.crc32(str(args["email"]).encode()) % 9000 + 1000
        return Done({"customer": f"C-{number}", "orders": number % 7 + 1, "member_since": 2015 + number % 9})

    def _send_email(self, args: Mapping[str, Any], run_id: str, call_id: str) -> Done:
        mail = EmailMessage()
        mail["From"] = "Your shop <refunds@shop.example>"
        mail["To"] = args["to"]
        mail["Subject"] = args["subject"]
        mail["Date"] = formatdate(usegmt=True)
        mail["Message-ID"] = f"<{run_id}.{call_id}@shop.example>"
        mail.set_content(args["text"])
        try:
            with smtplib.SMTP(*self._smtp, local_hostname="localhost", timeout=SMTP_S) as server:
                server.send_message(mail)
        except (OSError, ValueError) as error:
            raise ToolFailed(f"The mail server did not take the message: {error}") from error
        return Done({"sent_to": args["to"]}, receipt=mail["Message-ID"])

    def _create_ticket(self, args: Mapping[str, Any], run_id: str, call_id: str) -> Done:
        number = zlib.crc32(f"{run_id} {call_id}".encode()) % 90000 + 10000
        return Done({"ticket": f"T-{number}"}, receipt=f"T-{number}")

    def _propose_campaign(self, args: Mapping[str, Any], run_id: str, call_id: str) -> Done:
        try:
            proposed = self._api.propose({**campaign(), "run_id": run_id})
        except Rejected as rejected:
            if rejected.status != 409:
                raise ToolFailed(f"The campaign was not accepted ({rejected})") from rejected
            # An earlier run has proposed it: its external id stands for one campaign only.
            return Done({"status": "already proposed"})
        return Done({"campaign": proposed.get("id"), "status": proposed.get("status")})
