"""Filling the frame around the pages: navigation, the member, alarms."""

from collections.abc import Sequence
from datetime import datetime

from django.urls import reverse

from approvals.access.actors import Actor, Membership
from approvals.selectors.jobs_overdue import COUNTED, Alarm
from approvals.selectors.my_decisions import Mine
from approvals.selectors.runtimes import Unread
from dashboard.presenters import chips
from dashboard.presenters.ages import absolute, when
from dashboard.presenters.parts import Link
from dashboard.presenters.places import Places
from dashboard.presenters.shell import MyDecision, NavItem, Shell
from dashboard.presenters.text import capped, plain, summary_line

ALARMS_SHOWN = 3
MINE_SHOWN = 3


def shell_of_workspace(
    *,
    actor: Actor,
    email: str,
    membership: Membership,
    memberships: Sequence[Membership],
    waiting: int,
    alarms: Sequence[Alarm],
    unread: Sequence[Unread],
    mine: Sequence[Mine],
    now: datetime,
    current: str,
    catches_mail: bool,
) -> Shell:
    """The frame of a page of a workspace; `current` is the name of the place the page belongs to."""
    places = Places(membership.slug)
    nav = [NavItem("Queue", places.queue(), current == "queue", capped(waiting, COUNTED) if waiting else "")]
    if actor.may("read_log"):
        nav.append(NavItem("Decisions", places.decisions(), current == "decisions"))
        nav.append(NavItem("Authority", places.authority(), current == "authority"))
    nav.append(NavItem("Lists", places.datasets(), current == "datasets"))
    if actor.may("set_up"):
        nav.append(NavItem("Setup", places.setup(), current == "setup"))
    if catches_mail:
        nav.append(_mail(current))
    others = [Link(m.name, Places(m.slug).queue()) for m in memberships if m.slug != membership.slug]
    return Shell(
        home_url=places.queue(),
        member=actor.name,
        email=email,
        roles=", ".join(actor.roles),
        workspace=membership.name,
        others=(*others, Link("All workspaces", reverse("home"))) if others else (),
        nav=tuple(nav),
        mine=tuple(_mine(one, places, now) for one in mine),
        alarms=(*_alarms(alarms, places, now), *_unread(unread, actor, places)),
    )


def shell_of_hall(*, name: str, email: str, current: str = "", catches_mail: bool = False) -> Shell:
    """The frame of a page outside of any workspace."""
    return Shell(
        home_url=reverse("home"),
        member=name,
        email=email,
        nav=(NavItem("Workspaces", reverse("home"), current == "home"), _mail(current))
        if catches_mail
        else (),
    )


def _mine(one: Mine, places: Places, now: datetime) -> MyDecision:
    return MyDecision(
        what=chips.decision_kind(one.kind),
        about=summary_line(one.title or "this workspace", 60),
        url=places.item(one.item_kind, one.item_id)
        if one.item_kind and one.item_id
        else places.decision(one.id),
        at=when(one.at, now),
        take_back=one.cancellable,
    )


def _mail(current: str) -> NavItem:
    return NavItem("Mail", reverse("mail"), current == "mail")


def _alarms(alarms: Sequence[Alarm], places: Places, now: datetime) -> tuple[Link, ...]:
    shown = [
        Link(_alarm(alarm, when(alarm.since, now).relative), places.item(alarm.kind, alarm.id))
        for alarm in alarms[:ALARMS_SHOWN]
    ]
    if len(alarms) > ALARMS_SHOWN:
        shown.append(Link("There are more like this; see what is in progress.", places.queue("tab=progress")))
    return tuple(shown)


def _unread(stores: Sequence[Unread], actor: Actor, places: Places) -> tuple[Link, ...]:
    """Stores that cannot be read, with the way to them for whoever may go it."""
    shown: list[Link] = []
    for store in stores[:ALARMS_SHOWN]:
        trouble = plain(store.trouble)
        text = f"The store of {plain(store.name)} cannot be read since {absolute(store.since)}: {trouble}"
        if actor.may("set_up"):
            shown.append(Link(text, places.runtime(store.id)))
        else:
            shown.append(Link(f"{text} An admin can look after it under Setup.", ""))
    return tuple(shown)


def _alarm(alarm: Alarm, ago: str) -> str:
    title = plain(alarm.title)
    match alarm.what:
        case "not_started":
            return f"Approved {ago} and not started: {title}."
        case "not_going_on":
            return f"No worker has gone on with it since it was due {ago}: {title}."
        case "broken":
            return f"A replay broke off {ago}: {title}."
        case _:
            return f"A replay went silent {ago}: {title}."
