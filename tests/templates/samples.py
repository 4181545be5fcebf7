"""Sample presenter objects, one set for each page: what the gallery renders, with no database behind it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from dashboard.presenters import ages, chips
from dashboard.presenters.ages import When
from dashboard.presenters.chips import Chip
from dashboard.presenters.home import HomePage, WorkspaceCard
from dashboard.presenters.parts import (
    Choice,
    DecisionLine,
    DeliveryLine,
    Empty,
    Link,
    RunLine,
    Tab,
    Trail,
)
from dashboard.presenters.queue import QueueFilter, QueueLive, QueuePage, QueueRow
from dashboard.presenters.shell import MyDecision, NavItem, Shell
from dashboard.presenters.subjects import SubjectPage
from dashboard.presenters.text import reveal_line, summary_line

NOW = datetime(2025, 11, 29, 17, 25, 3, tzinfo=UTC)
DIGEST = "9f2c41d07be5a83360c1f4ae77d2905b8e13ac6f4d20b7719e5a02c84f6b3d1e"
HOSTILE = 'anna\u202egro.elpmaxe@\u200bexample.org<script>alert("x")</script>'
SHELL = Shell(
    home_url="/",
    member="Sam Okafor",
    email="sam@example.org",
    roles="support, reviewer",
    workspace="Northwind Travel",
    others=(Link("Harbour Books", "/w/harbour/"), Link("All workspaces", "/")),
    nav=(
        NavItem("Queue", "/w/northwind/", current=True, count="7"),
        NavItem("Decisions", "/w/northwind/decisions/"),
        NavItem("Authority", "/w/northwind/authority"),
    ),
)


ALARMED = replace(
    SHELL,
    mine=(
        MyDecision(
            chips.decision_kind("approve"),
            reveal_line("Winter schedule change"),
            "/w/northwind/campaigns/1/",
            ages.when(NOW - timedelta(seconds=20), NOW),
            take_back=True,
        ),
        MyDecision(
            chips.decision_kind("dismiss"),
            reveal_line("refund-" + "long" * 14),
            "/w/northwind/runs/1/",
            ages.when(NOW - timedelta(minutes=3), NOW),
        ),
    ),
    alarms=(
        Link("Approved 4 min ago and not started: Winter schedule change.", "/w/northwind/campaigns/1/"),
    ),
)
UNREAD = replace(
    SHELL,
    alarms=(
        Link(
            "The store of refunds-prod cannot be read since 29 Nov 2025, 17:16:03 UTC: The database refused the user or"
            " the password. An admin can look after it under Setup.",
            "",
        ),
    ),
)
HALL = replace(SHELL, workspace="", others=(), nav=(), roles="")


def ago(**span: float) -> When:
    """The moment that long before the gallery's now."""
    return ages.when(NOW - timedelta(**span), NOW)


def trail(with_next: bool = True) -> Trail:
    """The way back to the queue, and on."""
    return Trail(Link("Queue", "/w/northwind/"), Link("Booking assistant", "/r/2/") if with_next else None)


@dataclass(frozen=True)
class Note:
    """A flash message as Django's messages framework hands it over."""

    level_tag: str
    text: str

    def __str__(self) -> str:
        return self.text


def _tabs(current: str) -> tuple[Tab, ...]:
    return tuple(
        Tab(key, text, f"/w/northwind/?tab={key}", count, key == current)
        for key, text, count in (
            ("decide", "Needs a decision", "7"),
            ("progress", "In progress", "3"),
            ("history", "History", "1,000+"),
        )
    )


def _row(
    kind: str, title: str, state: Chip, risk: Chip | None, agent: str, did: str, age: When, **more: object
) -> QueueRow:
    subject = str(more.pop("subject", ""))
    return QueueRow(
        kind=kind,
        title=reveal_line(title),
        url="/w/northwind/runs/1/",
        state=state,
        risk=risk,
        agent=reveal_line(agent),
        did=summary_line(did),
        age=age,
        subject=reveal_line(subject),
        subject_url="/w/northwind/subjects/1/" if subject else "",
        **more,  # type: ignore[arg-type]
    )


def _filter(applied: bool) -> QueueFilter:
    return QueueFilter(
        action="/w/northwind/",
        tab="decide",
        kinds=(Choice("", "Any"), Choice("run", "Runs"), Choice("campaign", "Campaigns")),
        agents=(Choice("", "Any"), Choice("refunds", "refund-assistant", applied)),
        tools=(Choice("", "Any"), Choice("send_email", "send_email")),
        text="order 118" if applied else "",
        applied=(Link("Agent: refund-assistant", "/a"), Link("Search: order 118", "/b")) if applied else (),
        clear_url="/w/northwind/",
    )


ROWS = (
    _row(
        "Campaign",
        "Winter schedule change",
        chips.campaign_state("pending"),
        Chip("37 recipients", "info"),
        "outreach-writer",
        "Would send “Your winter departure has a new time” to 37 people; 3 cannot be addressed.",
        ago(hours=2),
        send_by=ages.due(NOW + timedelta(minutes=40), NOW),
    ),
    _row(
        "Run",
        "refund-8841",
        chips.run_state("interrupted"),
        chips.record_kind("called"),
        "refund-assistant",
        "Called look_up_booking and send_email; send_email has no answer.",
        ago(hours=5, minutes=10),
        subject="anna.lindqvist@example.org",
        attempts="2 attempts",
    ),
    _row(
        "Run",
        "rebook-20251129-0007",
        chips.run_state("interrupted"),
        chips.record_kind("none"),
        "booking-assistant",
        "No tool ran before it broke off.",
        ago(hours=6),
        subject="m.duarte@example.net",
    ),
    _row(
        "Run",
        HOSTILE,
        chips.run_state("interrupted"),
        chips.record_kind("unknown"),
        "imported-agent",
        "Events 4 to 9 are missing, so what it called cannot be known.",
        ago(hours=9),
        subject="مريم@example.org",
    ),
    _row(
        "Delivery",
        "Autumn newsletter, 2 recipients",
        chips.delivery_state("in_doubt"),
        Chip("May have been sent", "danger"),
        "outreach-writer",
        "The connection broke after the message was handed over; the server never said whether it took it.",
        ago(days=1, hours=3),
    ),
    _row(
        "Run",
        "itinerary-export-with-a-rather-long-external-identifier-2025-11-27T08:15:00Z-attempt-1",
        chips.run_state("failed"),
        chips.record_kind("none"),
        "itinerary-builder",
        "Ended with an error before any tool was called: model quota exhausted.",
        ago(days=2),
        subject="kundennr-55102",
    ),
    _row(
        "Job",
        "Replay of refund-8790",
        chips.job_state("failed"),
        chips.record_kind("called"),
        "refund-assistant",
        "The runtime refused the replay: 404, no such agent.",
        ago(days=3),
        subject="j.petrov@example.com",
    ),
)

QUEUE = QueuePage(
    new=Link("New campaign", "/w/northwind/campaigns/new/"),
    title="Queue",
    live=QueueLive("/w/northwind/live/", _tabs("decide"), "3 new", "/w/northwind/"),
    filter=_filter(applied=False),
    rows=ROWS,
    older_url="/w/northwind/?after=x",
)
QUEUE_FILTERED = QueuePage(
    title="Queue",
    live=QueueLive("/w/northwind/live/", _tabs("decide")),
    filter=_filter(applied=True),
    rows=ROWS[1:2],
    first_url="/w/northwind/",
)
QUEUE_EMPTY = QueuePage(
    title="Queue",
    live=QueueLive("/w/northwind/live/", _tabs("decide")),
    filter=_filter(applied=False),
    rows=(),
    empty=Empty(
        "Nothing waits for you",
        "Interrupted runs and proposed campaigns appear here by themselves. What happened before is under History.",
        Link("See the history", "/w/northwind/?tab=history"),
    ),
)
HOME = HomePage(
    (
        WorkspaceCard("Harbour Books", "/w/harbour/", "manager", "Nothing waits"),
        WorkspaceCard("Northwind Travel", "/w/northwind/", "support, reviewer", "7 wait for a decision"),
    )
)
HOME_EMPTY = HomePage(
    empty=Empty(
        "You belong to no workspace yet",
        "Ask an admin to add you with this e-mail address, then reload this page.",
    )
)


def decision(
    kind: str, who: str, roles: str, at: When, about: str, reason: str = "", outcome: Chip | None = None
) -> DecisionLine:
    """One line of the log."""
    return DecisionLine(
        what=chips.decision_kind(kind),
        who=who,
        roles=roles,
        at=at,
        url="/w/northwind/decisions/41/",
        about=reveal_line(about),
        about_url="/w/northwind/runs/1/" if about else "",
        about_kind="run" if about else "",
        reason=summary_line(reason),
        outcome=outcome,
    )


DECISIONS = (
    decision(
        "approve",
        "Mia Berg",
        "reviewer",
        ago(minutes=4),
        "Winter schedule change",
        outcome=chips.job_state("running"),
    ),
    decision(
        "force_replay",
        "Sam Okafor",
        "support",
        ago(hours=1),
        "refund-8790",
        "Checked with the bank: the first refund was never booked, so a second one is safe.",
        chips.job_state("failed"),
    ),
    decision(
        "reject",
        "Mia Berg",
        "reviewer",
        ago(hours=3),
        "Black Friday teaser",
        "The discount in the second paragraph is wrong.",
    ),
    decision(
        "replay",
        "the rule",
        "asked for by token “nightly”",
        ago(hours=7),
        "rebook-20251128-0441",
        "",
        chips.job_state("done"),
    ),
    decision(
        "declare_interrupted",
        "Sam Okafor",
        "support",
        ago(days=1),
        "itinerary-118",
        "The host was rebooted at noon.",
    ),
    decision(
        "resolve_run",
        "Sam Okafor",
        "support",
        ago(days=2),
        "refund-8702",
        "It happened: receipt 55-118 in the provider's log.",
    ),
    decision("member_add", "admin@example.org", "admin", ago(days=20), ""),
)
LINEAGE = (
    RunLine(
        reveal_line("refund-8841, second attempt"),
        "/r/1",
        chips.run_state("interrupted"),
        chips.record_kind("called"),
        ago(hours=5),
        did=summary_line("look_up_booking, send_email"),
        current=True,
    ),
    RunLine(
        reveal_line("refund-8841"),
        "/r/0",
        chips.run_state("interrupted"),
        chips.record_kind("none"),
        ago(hours=7),
        did=summary_line("No tool ran"),
    ),
)
SUBJECT = SubjectPage(
    title="anna.lindqvist@example.org",
    heading=reveal_line("anna.lindqvist@example.org"),
    trail=trail(with_next=False),
    summary="2 runs, 2 deliveries and 3 decisions.",
    runs=tuple(
        RunLine(
            line.name, line.url, line.state, line.record, line.at, reveal_line("refund-assistant"), line.did
        )
        for line in LINEAGE
    ),
    runs_older="/w/northwind/subjects/1/?runs=x",
    deliveries=(
        DeliveryLine(
            reveal_line("anna.lindqvist@example.org"),
            chips.delivery_state("sent"),
            ago(days=9),
            reveal_line("Autumn newsletter"),
            "/c/1",
            message_id=reveal_line("<d41f.37@mail.example.org>"),
            authority_url="/w/northwind/authority?q=d41f",
        ),
        DeliveryLine(
            reveal_line("anna.lindqvist@example.org"),
            chips.delivery_state("failed"),
            ago(days=30),
            reveal_line("Summer survey"),
            "/c/2",
            note=reveal_line("550 5.1.1 mailbox unavailable"),
        ),
    ),
    decisions=DECISIONS[1:4],
)
