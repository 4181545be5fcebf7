"""Sample presenter objects of the pages that say no, and of the mail catcher."""

from __future__ import annotations

from dashboard.presenters import chips
from dashboard.presenters.campaigns import Header
from dashboard.presenters.mail import MailList, MailMessage, MailRow
from dashboard.presenters.parts import Fact, Link
from dashboard.presenters.refusals import DecidedPage, RefusedPage, StalePage
from dashboard.presenters.text import reveal, reveal_line
from tests.templates.samples import ago

DECIDED = DecidedPage(
    who="Mia Berg",
    did="rejected this campaign",
    what=chips.decision_kind("reject"),
    at=ago(seconds=40),
    about=Link(reveal_line("Winter schedule change"), "/w/northwind/campaigns/1/"),
    reason=reveal("The second paragraph promises a refund that we do not give."),
    tried="approve it",
    typed="",
    now="The campaign is rejected; no message was sent.",
    on=(
        Link("See the campaign", "/c/1"),
        Link("Next in the queue", "/r/2"),
        Link("Back to the queue", "/w/northwind/"),
    ),
)
STALE = StalePage(
    about=Link(reveal_line("refund-8841"), "/w/northwind/runs/1/"),
    tried="force a replay of",
    opened=ago(minutes=6),
    changes=(
        reveal_line("Attempt refund-8841#2 was interrupted and is completed now."),
        reveal_line("New events of attempt refund-8841#2 arrived."),
    ),
    typed="Called the customer, she never got the mail.",
    reload_url="/w/northwind/runs/1/",
)
REFUSED = RefusedPage(
    title="This is not yours to do",
    text="Approving a campaign needs the role reviewer.",
    code="not_allowed",
    facts=(Fact("Your roles", "support"),),
    on=(Link("Back to the queue", "/w/northwind/"),),
)
MAIL_LIST = MailList(
    "37 messages were caught.",
    tuple(
        MailRow(
            reveal_line(f"guest{n}@example.org"),
            reveal_line("Your winter departure has a new time"),
            f"/mail/{n}/",
            ago(minutes=n),
        )
        for n in range(1, 7)
    ),
    "/mail/",
    older_url="/mail/?after=x",
)
MAIL_MESSAGE = MailMessage(
    "Your winter departure has a new time",
    reveal_line("Your winter departure has a new time"),
    (
        Header("From", reveal_line("Northwind Travel <hello@northwind.example>")),
        Header("To", reveal_line("guest1@example.org")),
        Header("Message-ID", reveal_line("<d41f.37@mail.example.org>")),
        Header("Date", reveal_line("Sat, 29 Nov 2025 17:21:00 +0000")),
    ),
    reveal(
        "Dear Anna,\n\nyour departure on 14 December leaves at 09:40 instead of 08:15.\n\nNorthwind Travel"
    ),
    "/mail/",
    ago(minutes=4),
    "/frame/",
    "/mail/1/raw/",
    (reveal_line("Terms of travel.pdf, application/pdf, 48 KB"), reveal_line("map.png, image/png, 1.2 MB")),
)
