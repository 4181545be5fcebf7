"""Filling the decision log: its filter, its lines, and in one sentence what somebody did."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from approvals.selectors.decisions import FOUND, Entry, Person, Wanted
from dashboard.forms import decisions as form
from dashboard.presenters import chips
from dashboard.presenters.ages import when
from dashboard.presenters.chips import Chip
from dashboard.presenters.decisions import DecisionFilter, DecisionsPage, LogBox
from dashboard.presenters.parts import Choice, DecisionLine, Empty, Link
from dashboard.presenters.places import Places
from dashboard.presenters.text import plain, summary_line

# In the order of the filter: first what is decided most. What happens to `{x}`, and the word for it.
DID: Mapping[str, str] = {
    "approve": "approved {x}",
    "return_campaign": "returned {x} to whoever proposed it",
    "reject": "rejected {x}",
    "replay": "started {x} again",
    "force_replay": "forced a replay of {x}",
    "replay_again": "had {x} started once more",
    "answer_calls": "answered the open calls of {x}",
    "confirm_call": "confirmed a tool call of {x}",
    "reject_call": "rejected a tool call of {x}",
    "stop_replay": "stopped the replay {x}",
    "declare_interrupted": "declared {x} interrupted",
    "dismiss": "dismissed {x}",
    "reopen": "reopened {x}",
    "resolve_run": "resolved {x}",
    "resolve_delivery": "resolved {x}",
    "send_again": "had {x} sent once more",
    "cancel_replay": "took back the replay of {x}",
    "cancel_send": "took back the approval of {x}",
    "pause_send": "paused the sending of {x}",
    "stop": "stopped {x}",
    "new_version": "proposed another version of {x}",
    "refused": "was refused a decision on {x}",
    "outcome": "wrote down what came of {x}",
    "resume_replay": "let the replay of {x} go on",
    "resume_send": "let the sending of {x} go on",
    "send_test": "asked for a test of {x}",
    "tell_again": "had the agent told again about {x}",
    "suppress": "put {x} on the list of who is not to be written to",
    "unsuppress": "let {x} be written to again",
    "dataset_imported": "imported the list {x}",
    "erased": "erased what was recorded about {x}",
    "restored": "said that this database was restored from a backup",
    "workspace_created": "made the workspace {x}",
    "workspace_held": "set for how long approvals of {x} are held",
    "workspace_paced": "set how many messages a minute leave {x}",
    "member_added": "added {x}",
    "password_set": "gave {x} a new password",
    "runtime_added": "added the runtime {x}",
    "runtime_changed": "changed the runtime {x}",
    "token_created": "made a token for {x}",
    "token_revoked": "revoked a token of {x}",
    "log_verified": "verified the log",
}
OTHERS = {
    "rule": "The rule (no person)",
    "token": "A token",
    "run": "A run, by what it called",
    "operator": "An operator",
    "system": "Secondlook itself",
}
_MANY = f"Many entries match; at most {FOUND:,} of them are looked at. Search for more words, or longer ones."
_NAMED_BY = ("run", "campaign", "email", "runtime", "name")  # evidence that says what an entry is about


def decisions_page(
    *,
    places: Places,
    asked: form.Asked,
    whole: bool,
    entries: Sequence[Entry],
    more: bool,
    people: Sequence[Person],
    agents: Sequence[str],
    log: LogBox,
    now: datetime,
) -> DecisionsPage:
    """The whole page; `whole` is false where the search found more than is looked at."""
    wanted = asked.wanted
    back = form.address(wanted, before=asked.before)
    return DecisionsPage(
        filter=_filter(places, asked, people, agents, "" if whole else _MANY),
        rows=tuple(decision_line(entry, places, now, back=back) for entry in entries),
        empty=None if entries else _empty(places, asked),
        older_url=places.decisions(form.address(wanted, before=entries[-1].seq)) if more else "",
        first_url=places.decisions(form.address(wanted)) if asked.before is not None else "",
        log=log,
    )


def decision_line(entry: Entry, places: Places, now: datetime, *, back: str = "") -> DecisionLine:
    """One entry on one line."""
    return DecisionLine(
        what=kind_of(entry),
        who=who_of(entry),
        roles=roles_of(entry),
        at=when(entry.at, now),
        url=places.decision(entry.id, places.back(back)),
        about=summary_line(name_of(entry), 100),
        about_url=target_url(entry, places),
        about_kind=target_kind(entry),
        reason=summary_line(_words_of(entry)),
        gone=_gone(entry),
        outcome=chips.job_state(state) if (state := entry.job or ended_as(entry)) else None,
    )


def _gone(entry: Entry) -> str:
    if entry.given is not None:
        return ""
    return "Its text is not what was written." if entry.altered else "Its text was erased."


def kind_of(entry: Entry) -> Chip:
    """The kind of an entry; one about a refusal says what was refused."""
    if entry.kind == "refused":
        return chips.refused(str((entry.given or {}).get("tried") or ""))
    return chips.decision_kind(entry.kind)


def ended_as(entry: Entry) -> str:
    """The state in which a job ended, of an entry about that; else empty."""
    return str((entry.given or {}).get("status") or "") if entry.kind == "outcome" else ""


def _words_of(entry: Entry) -> str:
    """The sentence of a line: the reason that was given, what somebody was told who was refused, or what came of it."""
    key = {"refused": "said", "outcome": "outcome"}.get(entry.kind)
    return str((entry.given or {}).get(key) or "") if key else entry.reason


def who_of(entry: Entry) -> str:
    """Who decided; the name of an operator is one of a machine's account, so it is said that it is one."""
    name = plain(entry.actor_name)
    return f"operator {name}" if entry.actor_kind == "operator" else name


def roles_of(entry: Entry) -> str:
    """In which capacity somebody decided."""
    return ", ".join(entry.actor_roles)


def name_of(entry: Entry) -> str:
    """What the entry is about, in the words of whoever named it."""
    given = entry.given or {}
    name = entry.about.title if entry.about else _first(given)
    if entry.target_kind == "delivery" and given.get("recipient"):
        return f"{given['recipient']}, {name}" if name else str(given["recipient"])
    return name


def target_kind(entry: Entry) -> str:
    """Whether what was decided on has the page of a run or of a campaign; empty where it has none."""
    if entry.target_kind in ("run", "call"):
        return "run"
    return entry.about.kind if entry.about else ""


def target_url(entry: Entry, places: Places) -> str:
    """The page of what was decided on; empty where it has none."""
    if entry.target_kind in ("run", "call"):
        return places.run(entry.target_id)
    return places.item(entry.about.kind, entry.about.id) if entry.about else ""


def kind_name(kind: str) -> str:
    """A kind of decision in the words of its chip."""
    return chips.decision_kind(kind).label


def _first(given: Mapping[str, object]) -> str:
    return next((str(given[key]) for key in _NAMED_BY if given.get(key)), "")


def _filter(
    places: Places, asked: form.Asked, people: Sequence[Person], agents: Sequence[str], many: str
) -> DecisionFilter:
    wanted = asked.wanted
    names = {person.id: plain(person.name) for person in people} | OTHERS
    kinds = {kind: kind_name(kind) for kind in DID}
    on = form.filters(wanted)
    shown = {"person": names, "kind": kinds}
    return DecisionFilter(
        action=places.decisions(),
        people=_choices("Anybody", names, wanted.person),
        kinds=_choices("Any", _told_apart(kinds), wanted.kind),
        agents=_choices("Any", {agent: plain(agent) for agent in agents}, wanted.agent),
        since=str(wanted.since or ""),
        until=str(wanted.until or ""),
        recipient=wanted.recipient,
        text=wanted.text,
        shows=_shows(wanted),
        applied=tuple(
            Link(
                f"{form.FILTER_NAMES[name]}: {shown.get(name, {}).get(str(value)) or _said(value)}",
                places.decisions(form.address(form.without(wanted, name))),
            )
            for name, value in on.items()
        ),
        clear_url=places.decisions(),
        error=" ".join(filter(None, [asked.note, many])),
    )


def _shows(wanted: Wanted) -> tuple[Choice, ...]:
    return tuple(
        Choice(value, text, (value == "everything") != wanted.decisions_only)
        for value, text in form.SHOW_NAMES.items()
    )


def _told_apart(kinds: Mapping[str, str]) -> dict[str, str]:
    """Two kinds with the same word get their own word behind it."""
    words = list(kinds.values())
    return {
        kind: f"{word} ({kind.rpartition('_')[2]})" if words.count(word) > 1 else word
        for kind, word in kinds.items()
    }


def _choices(none: str, names: Mapping[str, str], chosen: str) -> tuple[Choice, ...]:
    listed = names if not chosen or chosen in names else {chosen: plain(chosen), **names}
    return (
        Choice("", none, not chosen),
        *(Choice(value, text, value == chosen) for value, text in listed.items()),
    )


def _said(value: str | date) -> str:
    return plain(str(value))


def _empty(places: Places, asked: form.Asked) -> Empty:
    if form.filters(asked.wanted):
        link = Link("Clear the filters", places.decisions())
        return Empty("No decision matches", "Try a longer period or fewer filters.", link)
    if asked.before is not None:
        link = Link("Back to the first page", places.decisions())
        return Empty("Nothing older", "This is the beginning of the log.", link)
    return Empty("Nothing was decided yet", "Every decision of this workspace will be listed here, for good.")
