"""What the SMTP connector takes and gives, and how a message looks on the wire."""

import re
from dataclasses import dataclass, field

from approvals.rules.smtp import OutcomeKind, Phase


@dataclass(frozen=True, slots=True)
class SmtpSettings:
    """One mail server.

    `use_tls` asks for STARTTLS and goes no further without it, `use_ssl` speaks TLS from the first byte.
    `timeout_s` is the time that one `send` may take altogether, a connection it needs included.
    """

    host: str
    port: int
    username: str = ""
    password: str = field(default="", repr=False)
    use_tls: bool = False
    use_ssl: bool = False
    timeout_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Message:
    """One message for one recipient; `raw` is the whole message, headers and body."""

    envelope_from: str
    to: str
    raw: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class SmtpOutcome:
    """What is known after a send.

    `not_sent` may be tried again, `failed` is final for this recipient, `in_doubt` only a person can settle.
    `phase` is the step it ended in, `code` and `reply` what the server said (None and our own words where it
    said nothing). `channel_wide`: the same would happen to every message, so the batch should pause.
    """

    kind: OutcomeKind
    phase: Phase
    code: int | None
    reply: str
    channel_wide: bool


def on_the_wire(raw: bytes) -> bytes:
    """The message with CRLF line ends, ended by one, and every leading dot doubled; without the final dot.

    Lone CR and LF become CRLF too: a server that takes them for line ends would see another end.
    """
    lines = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").removesuffix(b"\n") + b"\n"
    stuffed = lines.replace(b"\n.", b"\n..")
    return (b"." + stuffed if lines.startswith(b".") else stuffed).replace(b"\n", b"\r\n")


def in_envelope(address: str) -> bool:
    """Whether an address can stand between `<` and `>` in a command, and mean nothing else there."""
    return bool(re.fullmatch(r"[!-;=?-~]+@[!-;=?-~]+", address))
