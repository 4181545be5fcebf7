"""Sample presenter objects of a campaign whose agent is told again, or could not be told."""

from __future__ import annotations

from dataclasses import replace

from dashboard.presenters.campaigns import TellAgain, ToldAgain
from dashboard.presenters.text import reveal_line
from tests.templates.samples import HOSTILE, ago
from tests.templates.samples_more import CAMPAIGN
from tests.templates.samples_run import ACT

CAMPAIGN_UNTOLD = replace(
    CAMPAIGN,
    untold=TellAgain(
        **ACT,
        what="it was returned",
        why=reveal_line("It answered with an error (401 Unauthorized): “The signature is wrong”."),
    ),
)
CAMPAIGN_TOLD_AGAIN = replace(
    CAMPAIGN,
    retried=ToldAgain(
        what="it was returned",
        tried="It was tried 3 times, last",
        last=ago(minutes=3),
        next_as="the next try is",
        next=ago(minutes=-2),
        answer=reveal_line(f"It answered with an error (503 Service Unavailable): “{HOSTILE}”."),
        behind="1 more piece of news waits until it is told this.",
    ),
)
