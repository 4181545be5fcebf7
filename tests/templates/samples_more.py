"""Sample presenter objects of the campaign page and the decision log."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from dashboard.presenters import ages, chips
from dashboard.presenters.acts import Act, ReasonAct
from dashboard.presenters.campaigns import (
    Audience,
    BarPart,
    CampaignActs,
    CampaignPage,
    Count,
    Excluded,
    FileLine,
    Header,
    PausedSend,
    Picker,
    Preview,
    Progress,
    Raw,
    ResolveDeliveries,
    Troubled,
)
from dashboard.presenters.decisions import DecisionFilter, DecisionPage, DecisionsPage, LogBox, Seen, SeenCall
from dashboard.presenters.parts import Choice, DeliveryLine, Empty, Fact, Link, Stage
from dashboard.presenters.text import pretty, reveal, reveal_line
from tests.templates.samples import DECISIONS, DIGEST, HOSTILE, NOW, ago, trail
from tests.templates.samples_review import LOOKS, QUIET, REVIEW, TRIAL, TRIAL_DOUBT
from tests.templates.samples_run import ACT, JOB, OUTCOMES, VERDICT
from tests.templates.samples_schedule import LATER, LATER_GONE, LATER_REFUSED, LATER_WRONG

LETTER = """Dear Anna,

your departure on 14 December leaves at 09:40 instead of 08:15. Your seat stays the same.

If the new time does not suit you, answer this mail until 5 December.

Northwind Travel"""
CAMPAIGN_ID = "0b6f2f0e-61d4-4c58-9a0e-5a7f3f1c2d44"
SOURCE = f"To: anna.lindqvist@example.org\nX-Long: {'long' * 60}\n\n{LETTER}"
HEADERS = (
    Header("From", reveal_line("Northwind Travel <hello@northwind.example>")),
    Header("Reply-To", reveal_line("desk@northwind.example")),
    Header("To", reveal_line("anna.lindqvist@example.org")),
    Header("Subject", reveal_line("Your winter departure has a new time")),
)
PICKER = Picker(
    action="/w/northwind/campaigns/1/",
    chosen="anna.lindqvist@example.org",
    place="1 of 37",
    choices=(Choice("a", "anna.lindqvist@example.org", True), Choice("b", "m.duarte@example.net")),
    next_url="/w/northwind/campaigns/1/?to=b",
    kept=(("back", "agent=outreach"),),
)
AUDIENCE = Audience(
    counts=(Count("will get it", "37", "ok"), Count("excluded", "3", "warn"), Count("in the list", "40")),
    excluded=(
        Excluded(reveal_line("not-an-address"), "It has no @.", "row 4"),
        Excluded(
            reveal_line("Anna.Lindqvist@EXAMPLE.org"),
            "The same address as row 1; the first one counts.",
            "row 19",
        ),
        Excluded(
            reveal_line("bob@exa\u200bmple.org"),
            "It holds a character that an address cannot hold.",
            "row 31",
        ),
    ),
    excluded_title="3 get nothing, and why",
    open=True,
)
CAMPAIGN = CampaignPage(
    new_version=Link("New version", "/w/northwind/campaigns/1/new-version"),
    title="Winter schedule change",
    heading=reveal_line("Winter schedule change"),
    trail=trail(),
    state=chips.campaign_state("pending"),
    send_by=ages.due(NOW + timedelta(minutes=40), NOW),
    purpose=reveal_line("Tell everybody who is booked on NW 118 in December that the departure moved."),
    facts=(
        Fact("Agent", reveal_line("outreach-writer")),
        Fact("Proposed", ago(hours=2)),
        Fact("Digest", DIGEST[:12]),
        Fact("External id", reveal_line("winter-118"), copy="winter-118"),
        Fact("Campaign id", CAMPAIGN_ID, copy=CAMPAIGN_ID),
    ),
    preview=Preview(
        PICKER,
        HEADERS,
        reveal(LETTER),
        "/frame/",
        raw=Raw(reveal(SOURCE), "/source/", "Date is set when it is sent."),
        looks=LOOKS,
        trial=TRIAL,
        files=(
            FileLine(reveal_line("Terms.pdf"), "application/pdf", "84 kB", "8d2c5f0b4a17…", "/file/"),
            FileLine(
                reveal_line("very-" + "long" * 30 + ".pdf.exe"),
                "application/octet-stream",
                "2,400 kB",
                "0f…",
                "/file/",
            ),
        ),
        files_title="2 attached files, 2,484 kB together",
    ),
    audience=AUDIENCE,
    review=REVIEW,
    acts=CampaignActs(
        approve=Act(**ACT),
        approve_text="Approve for 37 people",
        binding=f"Bound to exactly this text and these people (digest {DIGEST[:12]}). Queued, not sent at once.",
        later=LATER,
        reject=ReasonAct(**ACT),
    ),
    run=Link(reveal_line("outreach-77"), "/r/7"),
)
CAMPAIGN_QUIET = replace(
    CAMPAIGN,
    preview=replace(CAMPAIGN.preview, looks=QUIET, trial=TRIAL_DOUBT),
    review=replace(
        REVIEW,
        again=(),
        changed=None,
        ask=Link("Compare it now", "/w/northwind/campaigns/1/?compare=now"),
        ask_why="With so many recipients this takes a while, so it is done when you ask for it.",
    ),
    acts=replace(CAMPAIGN.acts, later=LATER_GONE),
)
CAMPAIGN_TIME_WRONG = replace(CAMPAIGN, acts=replace(CAMPAIGN.acts, later=LATER_WRONG))
PROGRESS = Progress(
    url="/w/northwind/campaigns/1/progress/",
    state=chips.campaign_state("sending"),
    text="21 of 37 are sent.",
    bar=(
        BarPart("0", "56.8", "ok", "sent"),
        BarPart("56.8", "2.7", "warn", "in doubt"),
        BarPart("59.5", "5.4", "danger", "failed"),
    ),
    counts=(
        Count("sent", "21", "ok"),
        Count("in doubt", "1", "warn"),
        Count("failed", "2", "danger"),
        Count("to go", "13"),
    ),
    moving=True,
    earlier="Version 1 before it: 150 sent, 2 in doubt. Together with this one it was sent to 171 people.",
    can_pause=True,
    can_stop=True,
    task="0b6f2f0e-5b7e-4f3e-9a55-1f3c9e4c2d10",
)
CAMPAIGN_SENDING = replace(
    CAMPAIGN,
    state=chips.campaign_state("sending"),
    send_by=None,
    preview=replace(
        CAMPAIGN.preview,
        picker=Picker(
            "/c/1",
            "someone@else.example",
            "of 12,480",
            (),
            "",
            "/c?to=2",
            "Nobody with this address is in the list.",
        ),
        html_url="",
        note="The text holds {{ first_name }}, but this recipient brings no first_name.",
        text_note="Shortened: the first 20,000 of 31,204 characters.",
    ),
    audience=replace(
        AUDIENCE, lacking="2 of the 37 recipients bring no value for a merge field.", lacking_url="/c?to=3"
    ),
    decisions_more=Link("There are older ones in the log", "/w/northwind/decisions/"),
    progress=PROGRESS,
    troubled=(
        ResolveDeliveries(
            **ACT,
            title="1 delivery in doubt",
            deliveries=(
                Troubled(
                    value="d1",
                    line=DeliveryLine(
                        reveal_line("k.sato@example.jp"),
                        chips.delivery_state("in_doubt"),
                        ago(minutes=3),
                        note=reveal_line("The connection broke after the message was handed over."),
                        authority_url="/w/northwind/authority?q=d1",
                    ),
                ),
            ),
            choices=OUTCOMES,
        ),
        ResolveDeliveries(
            **ACT,
            title="2 deliveries failed",
            deliveries=(
                Troubled(
                    value="d2",
                    line=DeliveryLine(
                        reveal_line("old.box@example.org"),
                        chips.delivery_state("failed"),
                        ago(minutes=3),
                        note=reveal_line("550 5.1.1 mailbox unavailable"),
                    ),
                ),
                Troubled(
                    value="d3",
                    line=DeliveryLine(
                        reveal_line("full@example.org"),
                        chips.delivery_state("failed"),
                        ago(minutes=3),
                        note=reveal_line("552 5.2.2 mailbox full"),
                    ),
                ),
            ),
            choices=OUTCOMES[1:],
            delivery_error="Tick at least one.",
            resolution_error="Choose one.",
            reason_error="Say how you know.",
            more_url="/c/1?troubled=x",
        ),
    ),
    acts=CampaignActs(
        pause=Act(**ACT),
        stop=ReasonAct(**ACT),
        take_back=Act(**ACT),
        closed="It was approved; the sending goes on by itself.",
        closed_link=Link("Settle it", "#settle"),
    ),
    decisions=DECISIONS[:1],
)
CAMPAIGN_PAUSED = replace(
    CAMPAIGN,
    state=chips.queue_state("campaign", "paused"),
    progress=replace(PROGRESS, moving=False, can_stop=True),
    acts=CampaignActs(
        stop=ReasonAct(**ACT),
        go_on=PausedSend(
            **ACT, title=reveal_line("The sending is paused"), why="Messages may have gone out."
        ),
        paused=(
            PausedSend(
                **ACT,
                title=reveal_line(f"Sending once more to {HOSTILE} is paused"),
                why="Messages may have gone out.",
                refused="Only members with the role reviewer may let a paused sending go on.",
                give_up=Act(**ACT),
            ),
        ),
    ),
)
CAMPAIGN_REFUSED = replace(
    CAMPAIGN,
    acts=replace(
        CAMPAIGN.acts,
        approve=Act(**ACT, refused="Approving a campaign needs the role reviewer."),
        later=LATER_REFUSED,
        reject=ReasonAct(
            **ACT, refused="Rejecting a campaign needs the role reviewer.", reason_error="Say what is wrong."
        ),
    ),
)
LOG_BOX = LogBox(
    head="Entry 1,204",
    hash_short="9b3f0c77a1de…",
    hash="9b3f0c77a1de" + "4" * 52,
    verified=reveal_line("Verified 3 h ago: all 1,190 entries hold."),
    tone="ok",
    exports=(
        Link("The whole log (JSON Lines)", "/w/northwind/decisions/export?show=everything"),
        Link("What is listed here (CSV, for spreadsheets)", "/w/northwind/decisions/export?format=csv"),
    ),
)
LOG = DecisionsPage(
    DecisionFilter(
        action="/w/northwind/decisions/",
        people=(Choice("", "Anybody"), Choice("1", "Mia Berg")),
        kinds=(Choice("", "Any"), Choice("approve", "Approved")),
        agents=(Choice("", "Any"),),
    ),
    DECISIONS,
    older_url="/w/northwind/decisions/?before=3",
    log=LOG_BOX,
)
LOG_EMPTY = replace(
    LOG,
    log=replace(LOG_BOX, verified=reveal_line("It does NOT hold."), tone="danger", exports=()),
    rows=(),
    older_url="",
    filter=replace(
        LOG.filter,
        since="2025-11-01",
        until="2025-10-01",
        applied=(Link("Until: 1 Oct 2025", "/x"),),
        clear_url="/x",
        error="The period ends before it begins.",
    ),
    empty=Empty(
        "No decision matches",
        "Try a longer period or fewer filters.",
        Link("Clear the filters", "/w/northwind/decisions/"),
    ),
)
ENTRY = DecisionPage(
    title="Forced replay of refund-8841",
    what=chips.decision_kind("force_replay"),
    who="Sam Okafor",
    at=ago(hours=1),
    sentence=reveal_line("Sam Okafor forced a replay of refund-8841"),
    trail=trail(with_next=False),
    target=Link(reveal_line("refund-8841"), "/r/1"),
    facts=(
        Fact("Person", "Sam Okafor, sam@example.org"),
        Fact("Roles then", "support"),
        Fact("Signed in with", "password"),
        Fact("Opened", "29 Nov 2025, 16:19:40 UTC"),
        Fact("Looked for", "5 min 23 s"),
    ),
    reason=reveal("Checked with the bank: the first refund was never booked, so a second one is safe."),
    seen=Seen(
        digest=DIGEST,
        verdict=VERDICT,
        calls=(
            SeenCall(
                reveal_line("look_up_booking"),
                reveal(pretty({"booking": "NW-118-204"})),
                chips.call_state("answered"),
                True,
            ),
            SeenCall(
                reveal_line("send_email"),
                reveal(pretty({"to": "anna.lindqvist@example.org"})),
                chips.call_state("open"),
                True,
            ),
        ),
        acknowledged=("I know that what this run did cannot be known.",),
    ),
    outcome=replace(
        JOB,
        state=chips.job_state("done"),
        text="The new run completed.",
        moving=False,
        cancellable=False,
        stages=(
            Stage("Decided", "past", ago(hours=1)),
            Stage("Queued", "past", ago(hours=1)),
            Stage("Running", "past", ago(minutes=59)),
            Stage("Done", "past", ago(minutes=57)),
        ),
        result=Link("The new run", "/r/9"),
    ),
    packet_url="/w/northwind/decisions/1/packet",
    chain=(
        Fact("Entry", "41"),
        Fact("Hash", DIGEST),
        Fact("Hash of the entry before", DIGEST[::-1]),
        Fact("Hash of what was seen", DIGEST),
    ),
)
ENTRY_CAMPAIGN = replace(
    ENTRY,
    title="Approved Winter schedule change",
    what=chips.decision_kind("approve"),
    sentence=reveal_line("Mia Berg approved Winter schedule change"),
    who="Mia Berg",
    reason=reveal(""),
    seen=Seen(
        digest=DIGEST,
        facts=(Fact("Recipients", "37"), Fact("Excluded", "3")),
        headers=tuple(Fact(header.name, header.value) for header in HEADERS),
        text=reveal(LETTER),
        erased="The texts of this entry were erased on 2 Dec 2025 by decision 58. Their hashes stay.",
    ),
    outcome=None,
    outcome_text="It was taken back before anything was sent.",
)
