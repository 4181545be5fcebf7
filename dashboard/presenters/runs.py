"""One run (`runs/page.html`): what it did, what the rules say, and the forms to decide with (see `acts`).

Fragment `runs/page.html#job`: a job on its way (`parts.JobProgress`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.utils.safestring import SafeString

from dashboard.presenters.acts import Act, AnswerAct, ForceAct, HeldAct, ReasonAct, ResolveAct
from dashboard.presenters.ages import When
from dashboard.presenters.chips import Chip, Tone
from dashboard.presenters.parts import (
    NOTHING,
    DecisionLine,
    Fact,
    JobProgress,
    Link,
    RunLine,
    Trail,
    VerdictBox,
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What became of a call that was to propose a campaign: a sentence, which begins at the campaign if it has one."""

    text: SafeString
    before: str = ""
    campaign: Link | None = None
    wrong: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One entry of the timeline.

    `call`: a tool call with `name`, chips (state, class, provenance), `args`, `result`, `receipt`. `said`:
    text of the agent, or of `name` where that is set; `verb` is what they did with it. `note`: something that
    happened (started, a node, ended, a gap). `mark`: the line where the run broke off, or something is wrong.
    """

    kind: Literal["call", "said", "note", "mark"]
    at: When | None
    name: SafeString = NOTHING
    anchor: str = ""
    chips: tuple[Chip, ...] = ()
    tone: Tone = "quiet"
    text: SafeString = NOTHING
    args: SafeString = NOTHING
    args_note: str = ""
    result: SafeString = NOTHING
    result_title: str = "Result"
    result_note: str = ""
    receipt: SafeString = NOTHING
    late: bool = False
    authority_url: str = ""
    verb: str = "said"
    proposal: Proposal | None = None


@dataclass(frozen=True, slots=True)
class ClaimedCall:
    """The calls to one tool that are in one state, on one line; `anchor` is the place of the first of them."""

    name: SafeString
    state: Chip
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """The last words of the agent beside what the record shows: a sentence, and the calls in it."""

    text: str
    calls: tuple[ClaimedCall, ...] = ()
    more: str = ""
    last_words: SafeString = NOTHING
    at: When | None = None


@dataclass(frozen=True, slots=True)
class ErrorBox:
    """What a run failed with, and the tools that it had called: those with an answer, and those left open.

    `title` says that it failed, or that somebody stopped it.
    """

    title: str
    text: SafeString
    code: SafeString = NOTHING
    completed: tuple[SafeString, ...] = ()
    open: tuple[SafeString, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to go on from here, with what it would do. It leads to its form (`link`), or is a button of its own
    (`act`); `why_not` is the sentence why it is not possible now, `refused` why it is not this member's.
    """

    title: str
    forecast: tuple[str, ...]
    link: Link | None = None
    act: Act | None = None
    danger: bool = False
    why_not: str = ""
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunActs:
    """The decisions that this run allows now; each is None where it makes no sense.

    A form that makes sense but is not this member's carries `refused`. `closed` says in one sentence why
    there is nothing to decide, and `closed_link` leads to where there is. `resolve_note` says how much else is open.
    """

    replay: Act | None = None
    force: ForceAct | None = None
    declare: ReasonAct | None = None
    resolve: tuple[ResolveAct, ...] = ()
    resolve_note: str = ""
    dismiss: ReasonAct | None = None
    reopen: ReasonAct | None = None
    cancel: Act | None = None
    stop: Act | None = None
    answer: AnswerAct | None = None
    held: tuple[HeldAct, ...] = ()
    resume: Act | None = None
    closed: str = ""
    closed_link: Link | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    """Everything on the page. `title` is `text.plain`; `facts` are agent, runtime, times, ids.

    The timeline shows times of day: `steps_note` names their date and zone.
    """

    title: str
    heading: SafeString
    trail: Trail
    state: Chip
    subject: SafeString
    subject_url: str
    summary: SafeString
    facts: tuple[Fact, ...]
    verdict: VerdictBox
    steps: tuple[Step, ...]
    steps_note: str = ""
    claim: Claim | None = None
    error: ErrorBox | None = None
    ways: tuple[Way, ...] = ()
    input: SafeString = NOTHING
    input_note: str = ""
    lineage: tuple[RunLine, ...] = ()
    acts: RunActs
    job: JobProgress | None = None
    decisions: tuple[DecisionLine, ...] = ()
