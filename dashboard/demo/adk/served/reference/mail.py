"""Really sends one e-mail, and writes the id of the call into it, so that a mail can be traced to its call."""

import os
import smtplib
from email.message import EmailMessage
from email.utils import formatdate

VARIABLE = "REFERENCE_SMTP"
CALL_HEADER = "X-Call-Id"
SMTP_S = 10.0


def letter(*, to: str, subject: str, body: str, call_id: str) -> EmailMessage:
    """The e-mail of one call."""
    mail = EmailMessage()
    mail["From"] = "Your shop <refunds@shop.example>"
    mail["To"] = to
    mail["Subject"] = subject
    mail["Date"] = formatdate(usegmt=True)
    mail["Message-ID"] = f"<{call_id}@shop.example>"
    mail[CALL_HEADER] = call_id
    mail.set_content(body)
    return mail


def send(mail: EmailMessage) -> None:
    """Hand it to the mail server that the environment names; raises OSError where that does not take it."""
    host, _, port = os.environ.get(VARIABLE, "127.0.0.1:25").rpartition(":")
    with smtplib.SMTP(host, int(port), local_hostname="localhost", timeout=SMTP_S) as server:
        server.send_message(mail)
