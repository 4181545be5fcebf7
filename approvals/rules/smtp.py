"""What an SMTP reply, or losing the connection, means for the one delivery under way.

The final dot is the edge: before it nothing was handed over, at it only a reply tells.
"""

from collections.abc import Mapping
from typing import Literal

Phase = Literal["connect", "helo", "tls", "auth", "mail", "rcpt", "data", "body", "dot"]
OutcomeKind = Literal["sent", "failed", "not_sent", "in_doubt"]

# In the order of a session. "body" is the content without its final dot; "dot" begins before the first
# byte of the dot is written and ends with the reply to it.
PHASES: tuple[Phase, ...] = ("connect", "helo", "tls", "auth", "mail", "rcpt", "data", "body", "dot")

# Before any message is named: what goes wrong here is about the channel, not about a recipient.
CHANNEL_PHASES: frozenset[Phase] = frozenset({"connect", "helo", "tls", "auth"})

# Replies about the session wherever they come: closing down, too many at once, or signing in.
SESSION_CODES = frozenset({421, 432, 454, 530, 534, 535, 538})

# (at the dot, first digit of the reply) -> outcome. A 2xx or 3xx looked up before the dot is one that the
# caller did not expect: nothing was handed over, so try later. What is not listed is no SMTP reply.
_BY_REPLY: Mapping[tuple[bool, int], OutcomeKind] = {
    (False, 2): "not_sent",
    (False, 3): "not_sent",
    (False, 4): "not_sent",
    (False, 5): "failed",
    (True, 2): "sent",
    (True, 4): "not_sent",
    (True, 5): "failed",
}


def outcome(phase: Phase, code: int) -> OutcomeKind:
    """What the reply `code` in `phase` makes of the delivery.

    `sent`: the server took it. `failed`: it refused this message or recipient for good. `not_sent`: certainly
    not sent, try later. `in_doubt`: a reply to the dot that says neither, which only a person can settle.
    """
    if channel_wide(phase, code):
        return "not_sent"
    at_dot = phase == "dot"
    return _BY_REPLY.get((at_dot, code // 100), "in_doubt" if at_dot else "not_sent")


def lost(phase: Phase) -> OutcomeKind:
    """What losing the connection or running out of time in `phase` makes of the delivery."""
    return "in_doubt" if phase == "dot" else "not_sent"


def channel_wide(phase: Phase, code: int) -> bool:
    """Whether the reply would meet every other message too, so that the batch should end here.

    A sender who is refused is refused for every recipient of the campaign, and one who is asked to wait before any
    recipient was named waits with all of them; none of them failed.
    """
    return phase in CHANNEL_PHASES or code in SESSION_CODES or (phase == "mail" and code // 100 in (4, 5))


def sender_refused(phase: Phase, code: int | None) -> bool:
    """Whether the server refuses the sender or the sign-in for good: waiting changes nothing, so a person has to."""
    said_no = code is not None and code // 100 == 5
    return said_no and (phase in ("mail", "auth") or code in SESSION_CODES)


def counts(phase: Phase, code: int | None) -> bool:
    """Whether an attempt that did not end well says something about its recipient.

    Without an answer before any recipient was named it says nothing; nor does what the server says for everybody.
    """
    return not channel_wide(phase, code) if code is not None else phase in ("rcpt", "data", "body", "dot")
