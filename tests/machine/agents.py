"""The world outside of what is read and streamed: an ADK service with its sessions, which anybody may talk to.

It keeps what really happened, to be compared with what the product believes. Every call has an id of its own.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import count
from typing import Any
from uuid import UUID

from approvals.connectors.adk import Closed, Opened, Outcome, StreamItem, StreamOrder, Tick, Told
from approvals.connectors.adk.rows import stored_row
from approvals.connectors.adk.store import Count, Layout
from approvals.rules.observed import Head, Row, Session, SessionKey
from tests.machine.outside import Handover, Outside

APP, USER = "support", "anna"
# What a turn of the agent comes to, word by word; each is an event, and `hold` two.
TURNS: Mapping[str, Sequence[str]] = {
    "calls and is asked no more": ["call", "answer", "word"],
    "says nothing but a word": ["word", "over"],
    "comes to its proven end": ["over"],
    "dies in its call": ["call"],
    "asks for a confirmation": ["hold"],
    "is refused for a rate limit": ["429"],
    "calls and is refused for a rate limit": ["part", "call", "answer", "429"],
    "calls twice, one is left open": ["call", "answer", "call"],
    "fails": ["error"],
    "dies at once": [],
}
# How a stream goes: told to its end, as it is stored or long after; cut off after so many events; or not begun at all.
STREAMS = ("told", "told late", "told late", "cut 1", "cut 2", "refused", "lost", "unheard")


@dataclass(frozen=True)
class Turn:
    """A turn that was asked for by a worker; `called` says whether one before it, of the same order, showed a call."""

    job_id: UUID
    session: SessionKey
    called: bool


@dataclass
class Agents(Outside):
    """The service and its store. `script` is what its next turns come to."""

    sessions: dict[SessionKey, list[dict[str, Any]]] = field(default_factory=dict)
    changed: dict[SessionKey, datetime] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    turns: list[Turn] = field(default_factory=list)
    calls: dict[str, set[str]] = field(default_factory=dict)  # by invocation: the calls that it really made
    of_job: dict[UUID, set[str]] = field(default_factory=dict)  # by job: the calls of its turns
    script: Sequence[str] = ()
    whose: Callable[[], UUID] = field(
        default=lambda: UUID(int=0)
    )  # the job in the hands of who asks just now
    pause: Callable[[str], None] = field(default=lambda _name: None)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    # -- what happens in it --------------------------------------------------------------------------------------------

    def asked(self, key: SessionKey, words: Sequence[str]) -> str:
        """Somebody sends a message without us, and a turn comes to this; its invocation."""
        invocation = f"e-{next(self._numbers)}"
        self._keep(key, self._event(invocation, "user", {"text": f"refund {invocation}"}))
        self.goes_on(key, invocation, words)
        return invocation

    def goes_on(self, key: SessionKey, invocation: str, words: Sequence[str]) -> None:
        """More of a turn is stored."""
        for event in self._made(key, invocation, words):
            if not event.get("partial"):
                self._keep(key, event)

    def answered(self, key: SessionKey, name: str, call_id: str, response: dict[str, Any]) -> None:
        """Somebody answers a call, or a request for a confirmation, without us; the agent says a word."""
        invocation = f"e-{next(self._numbers)}"
        given = {"functionResponse": {"id": call_id, "name": name, "response": response}}
        self._keep(key, self._event(invocation, "user", given))
        self.goes_on(key, invocation, ["word"])

    def edits(self, key: SessionKey, at: int) -> None:
        """A row is changed in place."""
        self.sessions[key][at] = self.sessions[key][at] | {"customMetadata": {"edited": next(self._numbers)}}

    def deletes(self, key: SessionKey, at: int) -> None:
        """A row is gone."""
        self.deleted.add(self.sessions[key].pop(at)["id"])

    def last_invocation(self, key: SessionKey) -> str:
        """The newest one of a session."""
        return str(self.sessions[key][-1]["invocationId"])

    def requests(self, key: SessionKey) -> list[str]:
        """The confirmations that were ever asked for in a session."""
        parts = [part for event in self.sessions[key] for part in event["content"]["parts"]]
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        return [call["id"] for call in calls if call["name"] == "adk_request_confirmation"]

    # -- what the workers meet -----------------------------------------------------------------------------------------

    def create_session(self, _place: Any, app: str, user: str, session_id: str) -> Outcome:
        """Stands in for the connector's call."""
        self._session(SessionKey(app, user, session_id))
        return Outcome("created", "It is there.")

    def stream(self, order: StreamOrder) -> Iterator[StreamItem]:
        """Stands in for the connector: whatever is told was stored before, and goes on if nobody listens."""
        key, job_id, answer = SessionKey(order.app, order.user, order.session_id), self.whose(), self._next()
        took_it = answer not in ("refused", "lost")
        self._begins(key, job_id, took_it)
        if answer == "refused":
            yield Closed("refused", "The service refused it.")
            return
        invocation = f"e-{next(self._numbers)}"
        if took_it:
            self._keep(key, self._event(invocation, "user", *order.message["parts"]))
        if answer in ("lost", "unheard"):
            if took_it:
                self._made_for(job_id, key, invocation, self.script)
            yield Closed("in_doubt", "The service did not answer in time.")
            return
        yield Opened()
        yield Tick()
        events = self._made(key, invocation, self.script)
        self.of_job.setdefault(job_id, set()).update(self.calls.get(invocation, ()))
        last = int(answer.removeprefix("cut ")) if answer.startswith("cut") else len(events)
        kept = [event for event in events if not event.get("partial")]
        while answer == "told late" and kept:
            self._keep(key, kept.pop(0))
        try:
            for event in events[:last]:
                if event in kept:
                    self._keep(key, kept.pop(0))
                yield Told(event)
                yield Tick()
            told = answer.startswith("told")
            yield Closed("ended", "It ended.") if told else Closed("broken", "It was cut off.")
        finally:
            for event in kept:
                self._keep(key, event)

    def _begins(self, key: SessionKey, job_id: UUID, took_it: bool) -> None:
        earlier = [turn for turn in self.turns if turn.job_id == job_id]
        self.turns.append(Turn(job_id, key, bool(self.of_job.get(job_id))))
        if earlier:
            return
        self._has_intent(
            f"the turn of job {job_id}", "approvals_job", "id = %s and intent_at is not null", job_id
        )
        query = """
            select j.run_id, d.kind in ('answer_calls', 'confirm_call', 'reject_call')
            from approvals_job j join approvals_decision d on d.id = j.decision_id where j.id = %s"""
        [(run_id, in_place)] = self.sql.execute(query, [job_id]).fetchall()
        self.handovers.append(Handover(job_id, run_id, took_it, self._head(), in_place))

    # -- what is read --------------------------------------------------------------------------------------------------

    @contextmanager
    def open_store(self, _url: str, **_: object) -> Iterator["Agents"]:
        """Stands in for the connector's store, which is this very object."""
        yield self

    def layout(self) -> Layout:
        """Everything is there."""
        return Layout("ready", "Sessions and events can be read.", True)

    def count(self) -> Count:
        """Exactly."""
        return Count(len(self.sessions), exact=True)

    def changed_since(self, when: datetime) -> list[Session]:
        """In the order of their changes."""
        found = [Session(key, at) for key, at in self.changed.items() if at >= when]
        return sorted(found, key=lambda session: session.updated_at)

    def after(self, key: SessionKey | None, limit: int) -> list[Session]:
        """In the order of their keys."""
        keys = sorted(one for one in self.sessions if key is None or one > key)
        return [Session(one, self.changed[one]) for one in keys[:limit]]

    def heads(self, keys: Sequence[SessionKey]) -> dict[SessionKey, list[Head]]:
        """As they are at this moment; whoever asked may be held up before the next question."""
        found = {key: [_head(event) for event in self.sessions[key]] for key in keys if key in self.sessions}
        self.pause("store.heads")
        return found

    def rows(
        self, keys: Sequence[SessionKey], *, only: Mapping[SessionKey, Collection[str]] | None = None
    ) -> Iterator[tuple[SessionKey, Row]]:
        """As they are at this moment."""
        found = [
            (key, _row(event))
            for key in keys
            for event in self.sessions.get(key, [])
            if only is None or event["id"] in only.get(key, ())
        ]
        self.pause("store.rows")
        return iter(found)

    # -- its events ----------------------------------------------------------------------------------------------------

    def _made_for(self, job_id: UUID, key: SessionKey, invocation: str, words: Sequence[str]) -> None:
        self.goes_on(key, invocation, words)
        self.of_job.setdefault(job_id, set()).update(self.calls.get(invocation, ()))

    def _made(self, key: SessionKey, invocation: str, words: Sequence[str]) -> list[dict[str, Any]]:
        """The events of these words; an answer is one to the last call of the session."""
        made: list[dict[str, Any]] = []
        for word in words:
            made += self._of_word(word, key, invocation, made)
        return made

    def _of_word(
        self, word: str, key: SessionKey, invocation: str, before: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        made = lambda *parts, **more: self._event(invocation, APP, *parts, **more)  # noqa: E731
        match word:
            case "part":
                return [made(self._call(invocation), partial=True)]
            case "call":
                return [made(self._call(invocation))]
            case "answer":
                open_call = self._last_call([*self.sessions.get(key, []), *before])
                if open_call is None:
                    return []
                return [made({"functionResponse": open_call | {"response": {"result": "ok"}}})]
            case "hold":
                call = self._call(invocation)
                args = {"originalFunctionCall": call["functionCall"], "toolConfirmation": {"hint": "May I?"}}
                asks = {"id": f"q-{next(self._numbers)}", "name": "adk_request_confirmation", "args": args}
                return [made(call), made({"functionCall": asks})]
            case "429":
                return [made(errorCode="RESOURCE_EXHAUSTED", errorMessage="429 RESOURCE_EXHAUSTED")]
            case "error":
                return [made(errorCode="ValueError", errorMessage="It broke.")]
            case "over":
                return [made(actions={"endOfAgent": True}, nodeInfo={"path": f"{APP}@1"})]
        return [made({"text": "I have seen to it."})]

    def _call(self, invocation: str) -> dict[str, Any]:
        call_id = f"c-{next(self._numbers)}"
        self.calls.setdefault(invocation, set()).add(call_id)
        return {"functionCall": {"id": call_id, "name": "send_email", "args": {"to": "ada@example.test"}}}

    def _last_call(self, events: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
        """The last call without an answer, as its id and name; None where all have theirs."""
        parts = [part for event in events if not event.get("partial") for part in event["content"]["parts"]]
        told = {part["functionResponse"]["id"] for part in parts if "functionResponse" in part}
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        left = [one for one in calls if one["name"] == "send_email" and one["id"] not in told]
        return {"id": left[-1]["id"], "name": "send_email"} if left else None

    def _event(self, invocation: str, author: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
        number = next(self._numbers)
        return {
            "id": f"event-{number}", "invocationId": invocation, "author": author, "timestamp": 1_764_000_000 + number,
            "content": {"role": "user" if author == "user" else "model", "parts": list(parts)}, **more,
        }  # fmt: skip

    def _session(self, key: SessionKey) -> list[dict[str, Any]]:
        self.changed[key] = datetime.now(UTC) + timedelta(microseconds=next(self._numbers))
        return self.sessions.setdefault(key, [])

    def _keep(self, key: SessionKey, event: dict[str, Any]) -> None:
        self._session(key).append(event)


def _head(event: dict[str, Any]) -> Head:
    return Head(event["id"], sha256(json.dumps(event).encode()).digest())


def _row(event: dict[str, Any]) -> Row:
    return stored_row(
        json.dumps(event), event_id=event["id"], invocation_id=event["invocationId"],
        at=datetime.now(UTC), digest=_head(event).digest,
    )  # fmt: skip
