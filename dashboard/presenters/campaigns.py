"""One campaign (`campaigns/page.html`): exactly what would be sent, to whom, and the forms to decide with.

Fragments: `campaigns/page.html#progress` (asks `Progress.url` every `pace` while it moves) and
`campaigns/page.html#preview` (asked for when another recipient is chosen; the plain form does the same).
GET fields of the recipient form: `to` (a delivery, or an address). Forms: approve, take back (`acts.Act`: `shown`,
`next`), pause and go on (the same), return and reject (`acts.ReasonAct`, field `comment`), stop (`acts.ReasonAct`,
field `reason`), resolve (`ResolveDeliveries`), tell the agent again (`TellAgain`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.safestring import SafeString

from dashboard.presenters.acts import Act, ReasonAct
from dashboard.presenters.chips import Chip, Tone
from dashboard.presenters.parts import NOTHING, Choice, DecisionLine, DeliveryLine, Fact, Link, Trail
from dashboard.presenters.review import Looks, Review
from dashboard.presenters.schedule import Schedule
from dashboard.presenters.trials import Trial

if TYPE_CHECKING:
    from dashboard.presenters.ages import When
    from dashboard.presenters.versions import Versions


@dataclass(frozen=True, slots=True)
class Header:
    """One header field as it will be sent."""

    name: str
    value: SafeString


@dataclass(frozen=True, slots=True)
class Picker:
    """Whose message is shown. With few recipients `choices` lists them all; with many the address is typed
    (`to`). `kept` are fields (name, value) that the form
    sends along. `pushes` is false on a page that answers a form: its address is none to come back to.
    """

    action: str
    chosen: str
    place: str
    choices: tuple[Choice, ...] = ()
    previous_url: str = ""
    next_url: str = ""
    error: str = ""
    kept: tuple[tuple[str, str], ...] = ()
    pushes: bool = True


@dataclass(frozen=True, slots=True)
class Raw:
    """The message as it goes over the wire, and where its bytes can be had."""

    text: SafeString
    url: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class FileLine:
    """A file that is attached: its name, type, size, the beginning of its SHA-256, and where it can be had."""

    name: SafeString
    content_type: str
    size: str
    sha256: str
    url: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The message to one recipient: header fields, text, HTML by its own address (a sandboxed frame), the
    source, what stands out in it, the files that everybody gets along with it, and the test that one can send oneself.
    """

    picker: Picker
    headers: tuple[Header, ...]
    text: SafeString
    html_url: str = ""
    note: str = ""
    text_note: str = ""
    raw: Raw | None = None
    looks: Looks | None = None
    files: tuple[FileLine, ...] = ()
    files_title: str = ""
    trial: Trial | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """A number of recipients or deliveries in one state, in words."""

    text: str
    number: str
    tone: Tone = "quiet"


@dataclass(frozen=True, slots=True)
class Excluded:
    """A recipient that will get nothing, and why."""

    address: SafeString
    why: str
    line: str = ""


@dataclass(frozen=True, slots=True)
class Audience:
    """Who gets it and who does not. `excluded` is one page of the list; `open` keeps the list unfolded.

    `lacking` says how many bring no value for a merge field; `lacking_url` shows the first of them,
    `lacking_all_url` lists them.
    """

    counts: tuple[Count, ...]
    excluded: tuple[Excluded, ...] = ()
    excluded_title: str = ""
    more_url: str = ""
    first_url: str = ""
    open: bool = False
    lacking: str = ""
    lacking_url: str = ""
    lacking_all_url: str = ""
    earlier: str = ""  # what became of the versions before
    drawn: str = ""  # the list that it is drawn from


@dataclass(frozen=True, slots=True)
class BarPart:
    """A stretch of the progress bar, in hundredths of its length, as text (`12.5`)."""

    start: str
    width: str
    tone: Tone
    text: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the sending is. `can_take_back`, `can_pause` and `can_stop` hide the forms that came too late.

    `earlier` is what went out under the versions before.

    Served alone, as a fragment, it brings the state in the page's `head` along, and `reload` once the page has more
    to offer than what it was made with.
    """

    url: str
    state: Chip
    text: str
    bar: tuple[BarPart, ...]
    counts: tuple[Count, ...]
    moving: bool
    pace: str = "3s"
    earlier: str = ""
    can_take_back: bool = False
    can_pause: bool = False
    can_stop: bool = False
    alarm: str = ""
    task: str = ""
    head: Chip | None = None
    reload: Link | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Troubled:
    """A delivery that waits for a person: in doubt, or failed. `value` is sent as `delivery`."""

    value: str
    line: DeliveryLine
    ticked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveDeliveries(ReasonAct):
    """Settling deliveries, those in doubt and those that failed each in a form of their own.

    Fields: `delivery` (one or more; each becomes its own decision), `resolution` (a value of `choices`:
    `happened`, `do_again`, `leave`), `reason`.
    """

    title: str
    deliveries: tuple[Troubled, ...]
    choices: tuple[Choice, ...]
    delivery_error: str = ""
    resolution_error: str = ""
    more_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PausedSend(Act):
    """A paused sending: of the campaign, or once more to one recipient. The form resumes it, or the campaign as such.

    `why` is what somebody has to know first. `give_up` takes a single message back; the campaign as a whole is taken
    back or stopped by its own forms, which stand beside.
    """

    title: SafeString
    why: str
    give_up: Act | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TellAgain(Act):
    """What the agent that proposed it could not be told, and why. The form has it told again."""

    what: str
    why: SafeString


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldAgain:
    """What the agent that proposed it is told again by itself: how often it was tried, when, and what came of it."""

    what: str
    tried: str
    last: When | None
    next_as: str
    next: When | None
    answer: SafeString
    behind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignActs:
    """The decisions that this campaign allows now. `binding` says what an approval is bound to.

    `take_back`, `go_on`, `pause` and `stop` stand with the sending, everything else in a box of its own. `comment` is
    what a campaign was returned with, and `new_version` the way to answer it. `paused` are single messages.
    """

    approve: Act | None = None
    approve_text: str = "Approve"
    binding: str = ""
    later: Schedule | None = None
    return_: ReasonAct | None = None
    reject: ReasonAct | None = None
    take_back: Act | None = None
    pause: Act | None = None
    stop: ReasonAct | None = None
    go_on: PausedSend | None = None
    paused: tuple[PausedSend, ...] = ()
    closed: str = ""
    closed_link: Link | None = None
    comment: SafeString = NOTHING
    new_version: Link | None = None

    @property
    def own_box(self) -> bool:
        """Whether anything of it stands apart from the sending."""
        possible = (self.approve, self.later, self.return_, self.reject, self.paused, self.new_version)
        return any(possible) or bool(self.closed or self.closed_link or self.comment)


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignPage:
    """Everything on the page. `title` is `text.plain`; `sends` is the heading over the message."""

    title: str
    heading: SafeString
    trail: Trail
    state: Chip
    send_by: Chip | None = None
    purpose: SafeString = NOTHING
    facts: tuple[Fact, ...]
    sends: str = "What will be sent"
    preview: Preview
    audience: Audience
    review: Review
    acts: CampaignActs
    progress: Progress | None = None
    versions: Versions | None = None
    troubled: tuple[ResolveDeliveries, ...] = ()
    untold: TellAgain | None = None
    retried: ToldAgain | None = None
    decisions: tuple[DecisionLine, ...] = ()
    decisions_more: Link | None = None
    run: Link | None = None
    new_version: Link | None = None
