"""Sample presenter objects of the run page in the situations that people meet."""

from __future__ import annotations

from dataclasses import replace

from dashboard.presenters import chips
from dashboard.presenters.acts import Acknowledged, Act, ForceAct, ReasonAct, ResolveAct
from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import Choice, Fact, JobProgress, Link, Reason, Stage, VerdictBox
from dashboard.presenters.runs import Claim, Proposal, RunActs, RunPage, Step
from dashboard.presenters.text import pretty, reveal, reveal_line
from tests.templates.samples import DECISIONS, HOSTILE, LINEAGE, ago, trail

RUN_ID = "7c1f6f5b-0d0e-4b57-8f0a-94a6d2f3b0aa"
ACT = {"action": "/w/northwind/runs/1/decide/", "shown": "signed.token", "next": "/w/northwind/"}
OUTCOMES = (
    Choice("happened", "It happened", hint="It is taken as done and is not done again."),
    Choice("do_again", "It did not; do it again", hint="It may run once more."),
    Choice("leave", "Leave it", hint="Nobody can tell; nothing more is done."),
)
VERDICT = VerdictBox(
    "warn",
    "A person has to decide",
    "This run called tools before it broke off. Starting it again may do the same things a second time.",
    (
        Reason(
            "It called tools:",
            "tools_called",
            (Link(reveal_line("look_up_booking"), "#call-1"), Link(reveal_line("send_email"), "#call-2")),
        ),
        Reason("Something arrived after it was interrupted.", "late_events"),
    ),
    (
        "A replay starts the agent again from its stored input, on the runtime travel-prod.",
        "It takes over no answer from before: look_up_booking and send_email may be called again.",
    ),
)
PROPOSED = Proposal(
    reveal_line(", version 2."),
    "Proposed as campaign",
    Link(reveal_line("Spring \u202eoffers"), "/w/northwind/campaigns/1/"),
)
UNUSABLE = Proposal(
    reveal_line("It was to propose a campaign, but: recipients[3].email: This must be text."), wrong=True
)
STEPS = (
    Step(
        kind="note",
        at=ago(hours=5, minutes=14),
        text=reveal_line("Started by ticket 55102"),
        chips=(chips.provenance("reported"),),
    ),
    Step(
        kind="said",
        at=ago(hours=5, minutes=14),
        text=reveal("I will look up the booking first, then write to the customer."),
        chips=(chips.provenance("reported"),),
    ),
    Step(
        kind="call",
        at=ago(hours=5, minutes=13),
        anchor="call-1",
        authority_url="/w/northwind/authority?q=c1",
        name=reveal_line("look_up_booking"),
        tone="ok",
        proposal=PROPOSED,
        chips=(chips.call_state("answered"), Chip("read"), chips.provenance("reported")),
        args=reveal(pretty({"booking": "NW-118-204", "fields": ["dates", "price"]})),
        result=reveal(
            pretty(
                {
                    "dates": ["2025-12-14", "2025-12-21"],
                    "price": "418.00 EUR",
                    "note": "VIP\u200b - do not\u202e rebmun eht egnahc",
                }
            )
        ),
    ),
    Step(
        kind="call",
        proposal=UNUSABLE,
        at=ago(hours=5, minutes=12),
        anchor="call-2",
        authority_url="/w/northwind/authority?q=c2",
        name=reveal_line("send_email"),
        tone="danger",
        chips=(chips.call_state("open"), Chip("effect", "warn"), chips.provenance("reported")),
        text=reveal_line("No answer was recorded. The message may have been sent."),
        args=reveal(
            pretty(
                {
                    "to": "anna.lindqvist@example.org",
                    "subject": "Your refund",
                    "body": "Dear Anna, we have refunded 418.00 EUR. <script>alert(1)</script>",
                }
            )
        ),
    ),
    Step(
        kind="mark",
        at=ago(hours=5, minutes=10),
        text=reveal_line("It broke off here: nothing more was heard for 5 minutes."),
        tone="danger",
    ),
    Step(
        kind="call",
        at=ago(hours=4, minutes=50),
        anchor="call-3",
        authority_url="/w/northwind/authority?q=c3",
        name=reveal_line("add_note"),
        tone="warn",
        late=True,
        chips=(chips.call_state("failed"), chips.provenance("reported")),
        args=reveal(pretty({"text": "refund announced"})),
        result_title="Error",
        result=reveal("503 Service Unavailable"),
        receipt=reveal_line("crm-trace 8f1d-77"),
    ),
)
FORCE = ForceAct(
    **ACT,
    others=("Something arrived after it was interrupted.",),
    calls=(
        Acknowledged(
            value="1:c1",
            name=reveal_line("look_up_booking"),
            args=reveal_line('{"booking": "NW-118-204", …}'),
            state=chips.call_state("answered"),
            came="was called",
            anchor="call-1",
        ),
        Acknowledged(
            value="1:c2",
            name=reveal_line("send_email"),
            args=reveal_line('{"to": "anna.lindqvist@example.org", "subject": "Your refund", …}'),
            state=chips.call_state("open"),
            came="was called",
            anchor="call-2",
        ),
        Acknowledged(
            value="0:c9",
            name=reveal_line("add_note"),
            args=reveal_line('{"text": "refund announced"}'),
            state=chips.call_state("failed"),
            came="was called",
            attempt="in the first attempt",
        ),
    ),
)
RUN = RunPage(
    title="refund-8841",
    heading=reveal_line("refund-8841"),
    trail=trail(),
    state=chips.run_state("interrupted"),
    subject=reveal_line("anna.lindqvist@example.org"),
    subject_url="/w/northwind/subjects/1/",
    summary=reveal_line("Called look_up_booking, send_email and add_note; send_email has no answer."),
    facts=(
        Fact("Agent", reveal_line("refund-assistant")),
        Fact("Runtime", "travel-prod"),
        Fact("Started", ago(hours=5, minutes=14)),
        Fact("Last heard of", ago(hours=4, minutes=50)),
        Fact("Session", reveal_line("s-55102")),
        Fact("Attempt", "2 of 2"),
        Fact("External id", reveal_line("refund-4711"), copy="refund-4711"),
        Fact("Run id", RUN_ID, copy=RUN_ID),
    ),
    verdict=VERDICT,
    steps=STEPS,
    steps_note="29 Nov 2025, times in UTC.",
    input=reveal(
        pretty(
            {
                "ticket": 55102,
                "customer": "anna.lindqvist@example.org",
                "text": "My flight was cancelled.\nPlease refund me.",
            }
        )
    ),
    lineage=LINEAGE,
    acts=RunActs(
        force=FORCE,
        resolve=(ResolveAct(**ACT, target="call:c2", about=reveal_line("send_email"), choices=OUTCOMES),),
        dismiss=ReasonAct(**ACT),
    ),
    decisions=DECISIONS[1:2],
)
RUN_ERRORS = replace(
    RUN,
    acts=RunActs(
        force=replace(
            FORCE,
            error="Nothing was decided: two things are missing.",
            ack_error="Tick every call that is listed.",
            reason="too short",
            reason_error="Say why in at least 10 characters.",
            sentence="I know that this run may have done things that are not listed here.",
        ),
        resolve=(
            ResolveAct(
                **ACT,
                target="call:c2",
                about=reveal_line("send_email"),
                choices=OUTCOMES,
                resolution_error="Choose one.",
                reason_error="Say how you know.",
            ),
        ),
        dismiss=ReasonAct(**ACT, reason_error="Say why."),
        reopen=ReasonAct(**ACT, reason_error="Say why."),
    ),
)
RUN_CLEAN = replace(
    RUN,
    title="rebook-7",
    heading=reveal_line("rebook-20251129-0007"),
    summary=reveal_line("No tool ran before it broke off."),
    verdict=VerdictBox(
        "ok",
        "It may start again",
        "The record is complete and shows that no tool ran, so nothing can happen twice.",
        (),
        VERDICT.outlook[:1],
    ),
    steps=(
        STEPS[0],
        Step(
            kind="said",
            at=ago(hours=6),
            text=reveal("Done! I have moved your booking and sent you the confirmation."),
        ),
        Step(
            kind="mark",
            at=ago(hours=6),
            text=reveal_line("It broke off here: the process ended with an error."),
            tone="warn",
        ),
    ),
    claim=Claim(
        "No tool ran. The history is complete from start to end and holds no call.",
        last_words=reveal("Done! I have moved your booking and sent you the confirmation."),
        at=ago(hours=6),
    ),
    lineage=(),
    acts=RunActs(replay=Act(**ACT), dismiss=ReasonAct(**ACT)),
    decisions=(),
)
JOB = JobProgress(
    url="/w/northwind/jobs/1/",
    state=chips.job_state("queued"),
    text="It waits for a worker.",
    stages=(
        Stage("Decided", "past", ago(seconds=20)),
        Stage("Queued", "now", ago(seconds=18)),
        Stage("Running", "ahead"),
        Stage("Done", "ahead"),
    ),
    moving=True,
    cancellable=True,
    task="0b6f2f0e-5b7e-4f3e-9a55-1f3c9e4c2d10",
    decision=Link("The decision", "/w/northwind/decisions/41/"),
)
RUN_QUEUED = replace(
    RUN,
    job=JOB,
    acts=RunActs(
        cancel=Act(**ACT), closed="A replay is on its way. Until it ends there is nothing else to decide."
    ),
)
RUN_DOUBT = replace(
    RUN,
    job=replace(
        JOB,
        state=chips.job_state("in_doubt"),
        text="Nobody knows whether the runtime started it.",
        alarm="Approved 9 min ago and not finished.",
        detail=reveal_line("The connection was reset after the request was written."),
        stages=(
            Stage("Decided", "past", ago(minutes=9)),
            Stage("Queued", "past", ago(minutes=9)),
            Stage("Running", "past", ago(minutes=8)),
            Stage("In doubt", "now", ago(minutes=8)),
        ),
        moving=True,
        cancellable=False,
    ),
    acts=RunActs(
        cancel=Act(**ACT),
        resolve=(
            ResolveAct(
                **ACT,
                target="job:1",
                about=reveal_line("the replay"),
                choices=OUTCOMES,
                refused="Resolving a run needs the role support.",
            ),
        ),
    ),
)
RUN_PAUSED = replace(
    RUN,
    title="paused",
    state=chips.run_state("interrupted"),
    job=replace(
        JOB,
        state=chips.job_state("paused"),
        text="The database was restored from a backup. This replay may have been started since that was taken.",
        moving=False,
        cancellable=True,
    ),
    acts=RunActs(
        cancel=Act(**ACT),
        resume=Act(**ACT),
        closed="The database was restored from a backup. Ask its runtime.",
    ),
)
RUN_LOOKER = replace(
    RUN,
    title="hostile",
    heading=reveal_line(HOSTILE),
    subject=reveal_line(HOSTILE),
    state=chips.run_state("running"),
    verdict=VerdictBox(
        "info",
        "It is still running",
        "Declare it interrupted first if you know that it no longer runs.",
        (Reason("The run itself is still running.", "still_running"),),
    ),
    acts=RunActs(
        declare=ReasonAct(**ACT, refused="Declaring a run interrupted needs the role support."),
        force=replace(FORCE, refused="Forcing a replay needs the role support."),
    ),
)
