"""Sample presenter objects of approving a campaign for a later time."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from approvals.rules.zones import meaning, zone_named
from dashboard.presenters.acts import Act
from dashboard.presenters.build_schedule import moment_words
from dashboard.presenters.schedule import Answer, Instant, Schedule
from tests.templates.samples_run import ACT

_SKIPPED = meaning(datetime(2026, 3, 29, 2, 30), zone_named("Europe/Paris"))
LATER = Schedule(
    action="/w/northwind/campaigns/1/approve-at",
    shown="a:b:c",
    zones=("UTC", "Europe/Paris", "Australia/Sydney"),
    date="2026-03-29",
    time="02:30",
    zone="Europe/Paris",
    open=True,
    answer=Answer(
        says="There is no Sunday 29 March 2026 02:30 in Paris: the clocks are put forward, past it.",
        instants=tuple(
            Instant(
                one.at.isoformat(), moment_words(one), "in 112 days", "" if place else "This time has passed."
            )
            for place, one in enumerate(_SKIPPED.moments)
        ),
        approve=Act(**ACT),
        button="Approve for the time chosen",
    ),
)
LATER_WRONG = replace(
    LATER, date_error="Choose a date.", time_error="Choose a time of day.", zone_error="There is no such zone.",
    error="This time has passed.", guess=True,
    answer=Answer(says="It is plain.", instants=(Instant("", "", "", "This time has passed."),)),
)  # fmt: skip
LATER_GONE = replace(
    LATER,
    answer=Answer(
        says="Neither can be.",
        instants=(Instant("", "Before", "", "Passed."), Instant("", "After", "", "Passed.")),
    ),
)
LATER_REFUSED = replace(
    LATER, answer=None, date="", time="", open=True, refused="Approving a campaign needs the role reviewer."
)
