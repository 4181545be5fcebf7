"""Filling the pages on which a workspace is set up."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django import forms

from approvals.selectors.callbacks import Untold
from approvals.selectors.runtimes import Observed, RuntimeRow, State
from dashboard.presenters.ages import span, when
from dashboard.presenters.build_untold import untold_lines
from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import Empty, Fact, Link, Shown, Trail
from dashboard.presenters.places import Places
from dashboard.presenters.setup import (
    AppLine,
    Reading,
    RuntimeBox,
    RuntimePage,
    SetupPage,
    Tool,
    ToolsPage,
)
from dashboard.presenters.text import count, plain, plural, reveal_line, summary_line

_KINDS = {"http": "Reports through the machine API", "adk": "Google ADK, read from its own database"}
_STATES: Mapping[State, Chip] = {
    "reports": Chip("Reports by itself"),
    "waiting": Chip("Waits for its first read", "info"),
    "first_read": Chip("First read", "info"),
    "up_to_date": Chip("Up to date", "ok"),
    "not_looked": Chip("Nobody looks", "warn"),
    "unread": Chip("Cannot be read", "danger"),
}
_SEEN = Chip("Every call is seen", "ok")
_HIDES = Chip("May hide calls", "warn", "A run of it that shows no call proves nothing")
_NOBODY_LOOKS = "See that a worker of the queue observe runs; /readyz names each process that is missing."
_NOTHING_LOST = (
    "Nothing is lost: once it can be read again, the reading goes on where it stopped. If its password or address"
    " changed, say the new database address."
)


def setup_page(
    *,
    places: Places,
    runtimes: Sequence[RuntimeRow],
    untold: Sequence[Untold] = (),
    form: forms.Form,
    sending: forms.Form,
    now: datetime,
) -> SetupPage:
    """The whole page; each form is as it stands, or what was sent with what is wrong with it.

    `untold` is what the runtimes could not be told. A runtime about which somebody has to do something comes first.
    """
    missed = {one.runtime_id for one in untold}
    runtimes = sorted(
        runtimes, key=lambda one: one.state(now) not in ("unread", "not_looked") and one.id not in missed
    )
    return SetupPage(
        runtimes=tuple(
            _box(runtime, places, untold, now, url=places.runtime(runtime.id)) for runtime in runtimes
        ),
        form=form,
        add_url=places.add_runtime(),
        sending=sending,
        sending_url=places.set_sending(),
        empty=None
        if runtimes
        else Empty(
            "No runtime yet", "Add the first one below; its runs then come to the queue by themselves."
        ),
    )


def runtime_page(
    *,
    places: Places,
    runtime: RuntimeRow,
    untold: Sequence[Untold] = (),
    form: forms.Form | None,
    listening: forms.Form,
    secret: str = "",
    now: datetime,
) -> RuntimePage:
    """One runtime; `form` is for another database address, None where none is read, `listening` for where it is told
    of its campaigns. `secret` is the signing secret that it got just now.
    """
    return RuntimePage(
        title=plain(runtime.name),
        trail=Trail(Link("Setup", places.setup())),
        box=_box(runtime, places, untold, now),
        listening=listening,
        listening_url=places.runtime_callback(runtime.id),
        secret=secret,
        form=form,
        change_url=places.runtime_database(runtime.id) if form else "",
        tools_url=places.campaign_tools(runtime.id),
    )


def tools_page(*, places: Places, runtime: RuntimeRow, form: forms.Form) -> ToolsPage:
    """The tools of one runtime; `form` declares another one."""
    return ToolsPage(
        title=f"Campaign tools of {plain(runtime.name)}",
        trail=Trail(Link(plain(runtime.name), places.runtime(runtime.id))),
        tools=tuple(Tool(summary_line(tool, 200), tool) for tool in runtime.campaign_tools),
        form=form,
        change_url=places.change_campaign_tools(runtime.id),
    )


def reading_of(runtime: RuntimeRow, places: Places, now: datetime, *, here: bool = False) -> Reading:
    """How the reading of its store stands; `here` on the runtime's own page, where the way to mend it stands below."""
    state, read = runtime.state(now), runtime.observed
    if read is None:
        return Reading(state=_STATES[state], lines=("Its runs come when it reports them.",))
    first = state == "first_read"
    return Reading(
        state=_STATES[state],
        lines=_lines(state, read, now),
        looked_as="last read" if state == "unread" else "looked",
        looked=_looked(state, read, now),
        url=places.runtime_live(runtime.id, "here=1" if here else ""),
        pace="2s" if first or state == "waiting" else "10s",
        done=read.pass_done if first else 0,
        total=read.sessions if first else 0,
        counted=f"{count(read.pass_done)} of {count(read.sessions)} sessions read" if first else "",
        trouble=reveal_line(read.trouble),
        since=when(read.troubled_since, now) if read.trouble and read.troubled_since else "",
        next={"unread": _NOTHING_LOST, "not_looked": _NOBODY_LOOKS}.get(state, ""),
        notice=reveal_line(read.notice),
        mend=Link("Say its new database address", f"{places.runtime(runtime.id)}#database")
        if state == "unread" and not here
        else None,
    )


def _lines(state: State, read: Observed, now: datetime) -> tuple[str, ...]:
    """What there is to say about the passes through all sessions."""
    if state == "first_read":
        return ("Runs come to the queue as they are found. Until all are read, some may be missing there.",)
    if state == "waiting":
        return ("It begins within seconds.",)
    if read.pass_ended_at is None:
        return ("It was never read completely, so runs may be missing in the queue.",)
    ended = (
        f"Every session was last compared with what is known of it {when(read.pass_ended_at, now).relative}"
    )
    if read.pass_began_at and read.pass_began_at > read.pass_ended_at and read.pass_total:
        return (f"{ended}; that goes on all the time, now at {count(read.pass_done)} of {_sessions(read)}.",)
    return (f"{ended} ({_sessions(read)}).",)


def _sessions(read: Observed) -> str:
    return plural(read.sessions, "session")


def _looked(state: State, read: Observed, now: datetime) -> Shown:
    if state in ("waiting", "first_read"):
        return ""
    return when(read.read_at, now) if read.read_at else "never"


def _box(
    runtime: RuntimeRow, places: Places, untold: Sequence[Untold], now: datetime, *, url: str = ""
) -> RuntimeBox:
    read = runtime.observed
    return RuntimeBox(
        id=str(runtime.id),
        name=reveal_line(runtime.name),
        url=url,
        facts=tuple(_facts(runtime)),
        reading=reading_of(runtime, places, now, here=not url),
        apps=tuple(_app(name, facts, runtime) for name, facts in sorted(read.facts.items())) if read else (),
        apps_note=_apps_note(runtime),
        untold=untold_lines(untold, runtime.id, places, now),
    )


def _facts(runtime: RuntimeRow) -> list[Fact]:
    facts = [
        Fact("How it is known", _KINDS.get(runtime.kind, runtime.kind)),
        Fact("Address", reveal_line(runtime.base_url)),
    ]
    if runtime.observed:
        facts.append(Fact("ADK version", reveal_line(runtime.observed.version) or "Not known yet"))
    else:
        facts.append(Fact("Reports each call before making it", "yes" if runtime.writes_ahead else "no"))
    told = reveal_line(runtime.callback_url) if runtime.callback_url else "Nowhere; it asks by itself"
    tools = ", ".join(runtime.campaign_tools)
    return [
        *facts,
        Fact("Interrupted after silence of", span(runtime.silence_s)),
        Fact("Told of its campaigns at", told),
        Fact("Tools that propose campaigns", summary_line(tools, 300) if tools else "none"),
    ]


def _apps_note(runtime: RuntimeRow) -> str:
    if runtime.observed is None:
        return ""
    if runtime.hides_calls:
        return "It was set up as one whose agents hide calls, so a run that shows no call proves nothing."
    if not runtime.observed.facts:
        return "Its service has not described its applications yet. Until then a run that shows no call proves nothing."
    return ""


def _app(name: str, facts: Any, runtime: RuntimeRow) -> AppLine:
    """An application that was never described may hide calls."""
    known = facts if isinstance(facts, dict) else {}
    hides = runtime.hides_calls or known.get("hides_calls") is not False
    return AppLine(
        name=reveal_line(name),
        seen=_HIDES if hides else _SEEN,
        detail=reveal_line(str(known.get("detail") or "")) if hides else reveal_line(""),
    )
