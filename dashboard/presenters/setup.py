"""Setting a workspace up (`setup/page.html`, `setup/runtime.html`): its runtimes, how they are read, their tools."""

from __future__ import annotations

from dataclasses import dataclass

from django import forms
from django.utils.safestring import SafeString

from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import NOTHING, Empty, Fact, Link, Shown, Trail


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How the reading of one store stands, fragment `setup/page.html#reading`.

    The fragment asks `url` again every `pace`; without `url` nothing moves. `lines` are sentences, `done` of `total`
    sessions are a bar where `total` is not 0. `trouble` is why the store cannot be read and `next` what to do then.
    """

    state: Chip
    lines: tuple[Shown, ...] = ()
    looked_as: str = "looked"
    looked: Shown = ""
    url: str = ""
    pace: str = ""
    done: int = 0
    total: int = 0
    counted: str = ""
    trouble: SafeString = NOTHING
    since: Shown = ""
    next: str = ""
    notice: SafeString = NOTHING
    mend: Link | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AppLine:
    """One application of a service, and whether its agents can hide calls."""

    name: SafeString
    seen: Chip
    detail: SafeString = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class UntoldLine:
    """News of a campaign that its runtime could not be told: `what` goes on after "that"."""

    campaign: SafeString
    url: str
    what: str
    at: Shown
    why: SafeString


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeBox:
    """One runtime. `url` is its own page; empty where this is that page."""

    id: str
    name: SafeString
    url: str
    facts: tuple[Fact, ...]
    reading: Reading
    apps: tuple[AppLine, ...] = ()
    apps_note: str = ""
    untold: tuple[UntoldLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupPage:
    """The runtimes by name, or `empty`; the form that adds one, and the one that says how this workspace sends."""

    runtimes: tuple[RuntimeBox, ...]
    form: forms.Form
    add_url: str
    sending: forms.Form
    sending_url: str
    empty: Empty | None = None
    title: str = "Setup"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimePage:
    """One runtime, with the form for another database address where it is read. `title` is `text.plain`.

    `listening` is the form for where it is told of its campaigns; `secret` the signing secret that was made just now.
    """

    title: str
    trail: Trail
    box: RuntimeBox
    listening: forms.Form
    listening_url: str
    secret: str = ""
    form: forms.Form | None = None
    change_url: str = ""
    tools_url: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool whose calls propose campaigns: as it is shown, and as its calls name it."""

    name: SafeString
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsPage:
    """The tools of one runtime that propose campaigns (`setup/campaign_tools.html`); `form` declares one more."""

    title: str
    trail: Trail
    tools: tuple[Tool, ...]
    form: forms.Form
    change_url: str
