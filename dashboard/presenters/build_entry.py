"""Filling one entry of the log: exactly what its decider saw, and what came of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.safestring import SafeString

from approvals.rules.decisions import UNKNOWN_ACKNOWLEDGED, call_key
from approvals.rules.digests import canonical
from approvals.rules.in_place import hint_of
from approvals.rules.messages import merge
from approvals.selectors.decisions import Entry, Opened, Sealed
from dashboard.presenters import chips
from dashboard.presenters.ages import absolute, span, when
from dashboard.presenters.build_decisions import DID, kind_of, name_of, roles_of, target_url, who_of
from dashboard.presenters.build_job import job_progress
from dashboard.presenters.decisions import DecisionPage, Seen, SeenCall
from dashboard.presenters.parts import NOTHING, Fact, Link, Reason, Trail, VerdictBox
from dashboard.presenters.places import Places
from dashboard.presenters.text import clip, count, plain, plural, reveal, reveal_line, summary_line

ALTERED = (
    "The texts of this entry are not the ones that were written down when it was decided: somebody changed them behind"
    " this product's back. They are not shown. Ask whoever runs the database."
)
ERASED = (
    "The texts of this entry were erased. Who decided what and when stays, and so does the hash of the texts,"
    " so the chain still holds."
)
# Evidence that is shown as a fact, with the words for it; the rest has its own place on the page.
_GIVEN = {
    "resolution": "",
    "meaning": "What became of it",
    "call_id": "Call",
    "name": "Name",
    "recipient": "Recipient",
    "to": "Goes to",
    "state": "State then",
    "reply": "The server said",
    "version": "Version",
    "was": "The campaign before",
    "to_send": "People who would get it",
    "excluded": "Excluded",
    "attached": "Attached files",
    "local": "Goes out at",
    "zone": "Time zone",
    "at": "In UTC",
    "skipped": "Skipped",
    "email": "E-mail",
    "roles": "Roles",
    "runtime": "Runtime",
    "subject": "Subject",
    "kind": "Kind",
    "base_url": "Address",
    "silence_s": "Interrupted after silence of",
    "time_limit_s": "Interrupted after",
    "writes_ahead": "Reports each call before making it",
    "store": "Its database",
    "campaign_tools": "Tools whose calls propose campaigns",
    "hides_calls": "Its calls may leave no trace",
    "slug": "Slug",
    "hint": "Token begins with",
    "asked_for_by": "Asked for by token",
    "said": "They were told",
    "changed": "What had changed",
    "status": "The job ended as",
    "outcome": "In words",
    "run_status": "The new run then",
    "deliveries": "Deliveries then",
    "entries": "Entries verified",
    "erased": "Of which erased",
    "holds": "Every entry holds",
    "first_bad": "First entry that does not",
    "why": "What is wrong",
    "runs": "Runs",
    "inputs": "Inputs erased",
    "events": "Texts of events erased",
    "evidence": "Texts of decisions erased",
    "recipients": "Rows of audiences erased",
    "planned": "Messages skipped",
    "addresses": "Addresses of messages that never began",
    "list_rows": "Rows of lists erased",
    "list_files": "Lists whose file went",
    "released": "Released entries of the suppressed erased",
    "objections": "Entries kept by which they get no mail",
    "of": "Of whom, as a keyed hash",
    "taken_at": "The backup was taken",
    "paused_replays": "Replays paused",
    "paused_sends": "Sendings paused",
    "replays_in_doubt": "Replays in doubt",
    "deliveries_in_doubt": "Messages in doubt",
    "tests_taken_back": "Tests taken back",
    "tests_in_doubt": "Tests in doubt",
}
_STATES = ("status", "run_status", "was")
_CAME_OF_IT = {
    "reject": "Nothing was sent. Whoever proposed it can read the comment.",
    "return_campaign": "Nothing was sent. Whoever proposed it can read the comment, and propose another version.",
    "pause_send": "What was under way ended. Until somebody let it go on, only what was sent again to one person left.",
    "declare_interrupted": "The run counted as interrupted from then on and waited for a decision.",
    "dismiss": "It left the queue.",
    "reopen": "It waited for a decision again.",
    "resolve_run": "It is settled with these words; nothing was started.",
    "resolve_delivery": "It is settled with these words; nothing was sent.",
    "stop_replay": "The run counted as interrupted from then on. A call that was under way may still have happened.",
    "cancel_replay": "The replay was taken back before a worker had it. Nothing was started.",
    "cancel_send": "It was taken back before anything was sent, and waits for a decision again.",
    "new_version": "It takes the place of the version before, and needs an approval of its own.",
    "stop": "What had not been sent by then is not sent.",
    "refused": "Nothing: it was refused, and nothing was done.",
    "outcome": "This entry says what came of an earlier one.",
    "log_verified": "Nothing: somebody looked, and wrote down what they found.",
    "resume_replay": "The replay was queued again; the first decision about it says what came of it.",
    "resume_send": "The rest was queued again; the first decision about it says what came of it.",
    "erased": "The texts are gone for good. What happened, who decided it and when stays.",
    "restored": "Everything that was due was paused, and waits for somebody to say whether it goes on.",
}


def decision_page(opened: Opened, *, places: Places, overdue_s: int, now: Any, back: str) -> DecisionPage:
    """The whole page; `back` is the query of the log as the reader left it."""
    entry = opened.entry
    who = who_of(entry)
    name = name_of(entry)
    return DecisionPage(
        title=f"{kind_of(entry).label}: {plain(name)}" if name else entry.kind,
        what=kind_of(entry),
        who=who,
        at=when(entry.at, now),
        sentence=sentence_of(entry),
        trail=Trail(Link("Decisions", places.decisions(back))),
        target=Link(summary_line(name, 100), target_url(entry, places)),
        facts=facts_of(opened, places),
        reason=reveal(entry.reason),
        seen=seen_of(opened),
        outcome=(
            job_progress(opened.progress, places=places, overdue_s=overdue_s, with_decision=False)
            if opened.progress
            else None
        ),
        outcome_text=_CAME_OF_IT.get(entry.kind, "It took effect at once."),
        chain=chain_of(opened),
        packet_url=places.packet(entry.id),
    )


def sentence_of(entry: Entry) -> SafeString:
    """In one sentence who did what."""
    name, tried = name_of(entry) or "it", str((entry.given or {}).get("tried") or "")
    if entry.kind == "refused" and tried:
        return summary_line(f"{who_of(entry)} was refused the {chips.tried(tried)} of {name}", 300)
    did = DID.get(entry.kind, f"{entry.kind} {{x}}").replace("{x}", name)
    return summary_line(f"{who_of(entry)} {did}", 300)


def chain_of(opened: Opened) -> tuple[Fact, ...]:
    """The numbers that an auditor needs."""
    return (
        Fact("Entry", count(opened.entry.seq)),
        Fact("Hash", opened.hash),
        Fact("Hash of the entry before", opened.prev_hash or "none, this is the first"),
        Fact("Hash of the texts", opened.payload_hash),
    )


def facts_of(opened: Opened, places: Places) -> tuple[Fact, ...]:
    """Who decided, in which capacity and how they had signed in, and about what."""
    entry = opened.entry
    facts = [Fact("By", who_of(entry))]
    if roles := roles_of(entry):
        facts.append(Fact("Roles then" if entry.actor_roles else "As", roles))
    if opened.sign_in:
        facts.append(Fact("Signed in with", opened.sign_in))
    if opened.opened_at:
        facts.append(Fact("Opened", absolute(opened.opened_at)))
        facts.append(Fact("Looked for", span((entry.at - opened.opened_at).total_seconds())))
    if opened.agent:
        facts.append(Fact("Agent", reveal_line(opened.agent)))
    if opened.subject:
        facts.append(Fact("Customer", reveal_line(opened.subject), places.subject(opened.subject)))
    if isinstance(first := (entry.given or {}).get("decision"), dict):
        facts.append(Fact("What came of", f"entry {first.get('seq')}", places.decision(str(first.get("id")))))
    return tuple(facts)


def seen_of(opened: Opened) -> Seen:
    """What the decider saw."""
    given = opened.entry.given
    if given is None:
        return Seen(digest=opened.digest, erased=ALTERED if opened.entry.altered else ERASED)
    lineage = _listed(given.get("lineage"))
    ticked = {str(key) for key in _listed(given.get("ticked"))}
    calls = tuple(
        _call(call, ticked) for run in lineage if isinstance(run, dict) for call in _listed(run.get("calls"))
    )
    return Seen(
        digest=opened.digest,
        facts=(
            *(_attempt(run) for run in lineage if isinstance(run, dict)),
            *_plain_facts(given, sealed=opened.sealed is not None),
            *_in_place(given),
        ),
        verdict=_verdict(given.get("verdict")),
        calls=calls,
        calls_note="No call was recorded." if lineage and not calls else "",
        acknowledged=(UNKNOWN_ACKNOWLEDGED,) if given.get("unknown_ticked") else (),
        headers=_headers(opened.sealed) if opened.sealed else (),
        text=reveal(clip(opened.sealed.text)[0]) if opened.sealed else NOTHING,
        text_title=_text_title(opened.sealed) if opened.sealed else "",
        html=reveal(clip(opened.sealed.html)[0]) if opened.sealed else NOTHING,
    )


def _text_title(sealed: Sealed) -> str:
    return "The text with its placeholders" if merge(sealed.text, {})[1] else "The text"


def _call(call: Any, ticked: set[str]) -> SeenCall:
    call = call if isinstance(call, dict) else {}
    return SeenCall(
        name=reveal_line(str(call.get("name", ""))),
        args=reveal(str(call.get("args_summary", ""))),
        state=chips.call_state(str(call.get("state", ""))),
        ticked=call_key(str(call.get("run_id")), str(call.get("call_id"))) in ticked,
    )


def _attempt(run: Mapping[str, Any]) -> Fact:
    record = run.get("record")
    kind = chips.record_kind(str(record.get("kind", ""))) if isinstance(record, dict) else None
    state = chips.run_state(str(run.get("status", ""))).label.lower()
    late = run.get("late_events")
    said = [
        state,
        *([kind.label.lower()] if kind else []),
        *([f"{plural(late, 'late event')}"] if late else []),
    ]
    return Fact(f"Attempt {plain(str(run.get('external_id', '')))}", ", ".join(said))


def _plain_facts(given: Mapping[str, Any], *, sealed: bool) -> tuple[Fact, ...]:
    return tuple(
        Fact(name, summary_line(_said(given[key], words=key in _STATES), 300))
        for key, name in _GIVEN.items()
        if name
        and given.get(key) not in (None, "")
        and not (sealed and key == "subject")  # stands in the letter
    )


def _in_place(given: Mapping[str, Any]) -> Iterator[Fact]:
    """What a person told an agent in place: of each open call, or of a held one what had been asked."""
    asked = given.get("confirmation")
    if isinstance(asked, dict) and (hint := hint_of(asked.get("hint"))):
        yield Fact("What was asked", summary_line(hint, 300))
    for answer in _listed(given.get("answers")):
        if not isinstance(answer, dict):
            continue
        said = "it happened" if answer.get("happened") else "it did not happen"
        told = f"{said}; the agent was told {canonical(answer.get('response'))}"
        receipt = f" (receipt {answer['receipt']})" if answer.get("receipt") else ""
        name = plain(str(answer.get("name") or "a tool"))
        yield Fact(f"Of {name}", summary_line(f"{told}{receipt}", 600))


def _said(value: Any, *, words: bool = False) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{number} {str(state).replace('_', ' ')}" for state, number in value.items())
    if words:
        return str(value).replace("_", " ")
    return ", ".join(str(one) for one in value) if isinstance(value, list) else str(value)


def _verdict(verdict: Any) -> VerdictBox | None:
    if not isinstance(verdict, dict):
        return None
    reasons = tuple(
        Reason(text=str(reason.get("text", "")), code=str(reason.get("code", "")))
        for reason in _listed(verdict.get("reasons"))
        if isinstance(reason, dict)
    )
    if verdict.get("may_start_again"):
        return VerdictBox("ok", "It could start again by itself", "Nothing stood in its way.", reasons)
    return VerdictBox(
        "warn", "A person had to decide", "This stood in the way of starting it again:", reasons
    )


def _headers(sealed: Sealed) -> tuple[Fact, ...]:
    fields = (("From", sealed.from_address), ("Reply-To", sealed.reply_to), ("Subject", sealed.subject_line))
    return tuple(Fact(name, reveal_line(value)) for name, value in fields if value)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
