"""The forms a decision is made with. All are real POST forms; their field names are written down here.

Every one of them carries `csrfmiddlewaretoken`, `shown` (the signed token of what the page showed: digest
and the moment it was opened) and `next` (where to go afterwards).
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import NOTHING, Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A button. Fields: `shown`, `next`.

    `refused` is the sentence why this member may not (the button is off and the sentence stands beside it);
    `error` is what was wrong with the last try.
    """

    action: str
    shown: str = ""
    next: str = ""
    refused: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonAct(Act):
    """A button with a text of at least 10 characters: declare interrupted, dismiss, reopen, stop. Field:
    `reason` (in the form that rejects a campaign: `comment`).
    """

    reason: str = ""
    reason_error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """A call that a forced replay must acknowledge. `value` is sent as one `ack`; `came` is what is known of it, as the
    end of a sentence (`was called`); `anchor` is its place in the timeline.
    """

    value: str
    name: SafeString
    args: SafeString
    state: Chip
    came: str
    anchor: str = ""
    attempt: str = ""
    ticked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ForceAct(ReasonAct):
    """The forced replay. Fields: `ack` (one for each call), `ack_unknown` = `1`, `reason` (10 characters or
    more).

    `fresh` where it begins in a session of its own. `sentence` is what must be ticked instead when the record is
    unknown (empty: not asked for). `others` are the further reasons that this act overrides, as sentences.
    """

    calls: tuple[Acknowledged, ...] = ()
    fresh: bool = False
    sentence: str = ""
    sentence_ticked: bool = False
    others: tuple[str, ...] = ()
    ack_error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveAct(ReasonAct):
    """Settling what is in doubt. Fields: `target`, `resolution`, `reason` (how the person knows).

    `resolution` is one of the values of `choices` (`happened`, `do_again`, `did_not_happen`, `leave`: what
    the target allows); `about` names the job or call in words, `args` and `anchor` (its
    place in the timeline) tell several calls of one tool apart; `open` is false where an answer was given
    before and this form would only correct it.
    """

    target: str
    about: SafeString
    choices: tuple[Choice, ...]
    args: SafeString = NOTHING
    anchor: str = ""
    resolution_error: str = ""
    open: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredCall:
    """An open call of which a person says whether it happened. Fields, numbered: `call` (its id), `happened` = `1` or
    `0`, `result` and `receipt`. `note` is what somebody said of it before.
    """

    number: int
    value: str
    name: SafeString
    args: SafeString
    state: Chip
    anchor: str = ""
    note: SafeString = NOTHING
    happened: bool | None = None
    result: str = ""
    receipt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerAct(ReasonAct):
    """The answers to every open call of a run. Fields: those of each call, and `reason` (how the person knows)."""

    calls: tuple[AnsweredCall, ...]
    answers_error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldAct:
    """A held call. Two forms, both with `target` (its id): `confirm` with the field `comment` (may be empty), `reject`
    with `reason`. `hint` is what its runtime asks; `why_not` why neither is possible.
    """

    target: str
    name: SafeString
    args: SafeString
    hint: SafeString
    anchor: str
    confirm: ReasonAct
    reject: ReasonAct
    others: str = ""
    why_not: str = ""
