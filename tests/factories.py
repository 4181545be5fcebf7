"""What tests start from: workspaces, people, runs with their journals and campaigns, stored as the product's own role.

Everything but `workspace` and `person` works for the bound workspace (`with bind(...)`), each call in a transaction
of its own.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.db import models, transaction

from approvals.access.actors import Actor
from approvals.db.binding import bind, current_workspace
from approvals.models import (
    AudienceRow,
    Campaign,
    Delivery,
    Event,
    Job,
    Member,
    Run,
    Runtime,
    User,
    Version,
    Workspace,
)
from approvals.rules.addresses import Refused, check_address
from approvals.rules.attachments import Wanted
from approvals.rules.decisions import told
from approvals.rules.digests import canonical, version_digest
from approvals.rules.messages import message_id_of
from approvals.rules.observed import Line
from approvals.rules.shown import Shown
from approvals.selectors.lineages import judged
from approvals.services import attachments, lines, payloads, secrets

NOON = datetime(2025, 11, 29, 12, 0, tzinfo=UTC)
LETTER = {
    "from_address": "Northwind Travel <hello@northwind.example.com>",
    "reply_to": "desk@northwind.example.com",
    "subject_line": "{{ name }}, your departure moved",
    "text": "Dear {{ name }},\n\nyou leave at {{ time }}.\n",
    "html": "<p>Dear {{ name }},</p><p>you leave at <b>{{ time }}</b>.</p>",
}
SENDER = Actor("member", "1", "Mia", ("reviewer",), "password")  # of files to attach
SECRET = "whsec_YSBzZWNyZXQgb2YgMjQgY2hhcmFjdGVy"  # of every runtime that is made here
_numbers = count(1)
_Row = TypeVar("_Row", bound=models.Model)


def workspace(slug: str = "northwind", *, hold_s: int = 0) -> Workspace:
    """A workspace with one runtime that writes ahead."""
    made = Workspace(slug=slug, name=slug.capitalize(), hold_s=hold_s)
    with bind(made.id), transaction.atomic():
        made.save(force_insert=True)
        runtime()
    return made


@transaction.atomic
def runtime(*, name: str = "travel-prod", writes_ahead: bool = True, **more: Any) -> Runtime:
    """A runtime of the bound workspace."""
    fields = {
        "kind": "http",
        "base_url": "http://127.0.0.1:9",
        "signing_secret": secrets.seal(SECRET),
    }
    return Runtime.objects.create(
        workspace_id=current_workspace(), name=name, writes_ahead=writes_ahead, **(fields | more)
    )


def adk_runtime(*, name: str = "adk-prod", **more: Any) -> Runtime:
    """A runtime whose own store is read, and whose runs can go on in place."""
    database_url = secrets.seal("postgresql://reader@127.0.0.1:9/sessions")
    return runtime(name=name, **({"kind": "adk", "database_url": database_url} | more))


@transaction.atomic
def adk_run(external_id: str = "", *, of: Runtime, **more: Any) -> Run:
    """A run as it is read from such a runtime's store, without its lines (`observe`)."""
    number = next(_numbers)
    message = {"role": "user", "parts": [{"text": "Please refund customer C-17."}]}
    fields = {
        "agent": "support",
        "subject": "u1",
        "session_id": f"s-{number}",
        "trigger": "",
        "input": {"message": message},
    } | more
    name = external_id or f"{fields['agent']}/{fields['subject']}/{fields['session_id']}/e-{number}"
    return run(name, runtime_id=of.id, **fields)


@transaction.atomic
def observe(run: Run, *observed: Line) -> Run:
    """Append lines that were seen in the store, or on a stream; the run as it is then."""
    lines.append({run.id: observed})
    return Run.objects.get(id=run.id)


def line(type: str, second: int = 0, **more: Any) -> Line:
    """One such line, that many seconds after noon."""
    return Line(type=type, at=NOON + timedelta(seconds=second), **more)


def spoke(text: str, second: int = 0, **content: Any) -> Line:
    """The agent said something; `content` is what else the event carried."""
    return line("message", second, content={"text": text, "author": "support"} | content)


def made(name: str, call_id: str, second: int = 0, **args: Any) -> Line:
    """The agent called a tool."""
    return line("tool_call", second, call_id=call_id, name=name, content={"args": args})


def came(call_id: str, outcome: str | None = None, second: int = 0, **content: Any) -> Line:
    """What came of a call."""
    told = content if content.keys() & {"error", "confirmation"} else {"result": content or "ok"}
    return line("tool_result", second, call_id=call_id, outcome=outcome, content=told)


def asks(call_id: str, hint: str = "Please approve or reject send_email().") -> Line:
    """A call asks for a confirmation, by a request of its own."""
    return came(call_id, "awaiting", confirmation={"id": f"ask-{call_id}", "hint": hint})


def over(outcome: str = "completed", *, origin: str = "live", **content: Any) -> Line:
    """The run came to its end."""
    return line("ended", 9, outcome=outcome, origin=origin, content=content or None)


def broken_off(*, of: Runtime, **more: Any) -> Run:
    """A run that was interrupted in its tool: one call has its answer, and send_email none."""
    seen = observe(
        adk_run(of=of, **more),
        spoke("I will look her up and write to her.", model="scripted-1"),
        made("look_up", "a1", customer="C-17"),
        came("a1", name="Ada"),
        made("send_email", "a2", 2, to="ann@example.org"),
    )
    return interrupted(seen)


def held_call(*, of: Runtime, **more: Any) -> Run:
    """A run that is over for now, because send_email asks for a confirmation."""
    seen = adk_run(of=of, **more)
    return observe(seen, made("send_email", "a1", 1, to="ann@example.org"), asks("a1"), over())


def person(name: str, *roles: str, of: Workspace) -> User:
    """A user who is a member of the workspace, and can sign in with the password `correct horse`."""
    user = User.objects.create_user(f"{name.lower()}@example.org", "correct horse", name=name)
    with bind(of.id), transaction.atomic():
        Member.objects.create(workspace_id=of.id, user=user, roles=list(roles))
    return user


def member(name: str, *roles: str, of: Workspace) -> Actor:
    """A user with an address of their own, as services want to know them: for what goes by who they are here."""
    user = User.objects.create_user(f"{name.lower()}{next(_numbers)}@example.org", name=name)
    with bind(of.id), transaction.atomic():
        Member.objects.create(workspace_id=of.id, user=user, roles=list(roles))
    return Actor(kind="member", id=str(user.pk), name=name, roles=roles, sign_in="password")


def actor(name: str, *roles: str) -> Actor:
    """Somebody who acts; services need no more of a person than this."""
    return Actor(kind="member", id=f"user-{name}", name=name, roles=roles, sign_in="password")


@transaction.atomic
def run(external_id: str = "", *, replay_of: Run | None = None, **more: Any) -> Run:
    """A run that has just been reported; with `replay_of`, a replay of it."""
    id = uuid4()
    stored = payloads.store({"input": more.pop("input", {"ticket": 55102})})
    fields: dict[str, Any] = {
        "external_id": external_id or f"refund-{next(_numbers)}",
        "agent": "refund-assistant",
        "session_id": "s-1",
        "subject": "anna@example.org",
        "trigger": "ticket 55102",
        "lineage_id": replay_of.lineage_id if replay_of else id,
        "replay_of": replay_of,
        "body_digest": "",
    }
    fields |= {"runtime_id": Runtime.objects.order_by("created_at").values_list("id", flat=True)[0]}
    return Run.objects.create(
        id=id,
        workspace_id=current_workspace(),
        input_payload_id=stored.id,
        input_hash=stored.hash,
        **(fields | more),
    )


@transaction.atomic
def tell(run: Run, *events: dict[str, Any]) -> Run:
    """Append events to the run's journal, one batch; the run as it is then. See the functions below for events."""
    last = Run.objects.values_list("max_seq", flat=True).get(id=run.id)
    rows = []
    for seq, event in enumerate(events, start=last + 1):
        content = event.pop("content", None)
        stored = payloads.store(content) if content is not None else None
        fields: dict[str, Any] = {"seq": seq, "at": NOON + timedelta(seconds=seq)} | event
        if stored:
            fields |= {"payload_id": stored.id, "payload_hash": stored.hash}
        rows.append(Event(workspace_id=run.workspace_id, run_id=run.id, **fields))
    Event.objects.bulk_create(rows)
    return Run.objects.get(id=run.id)


def said(text: str, **more: Any) -> dict[str, Any]:
    """The agent says something."""
    return {"type": "message", "content": {"text": text, "author": "agent"}, **more}


def called(name: str, call_id: str, args: Any = None, **more: Any) -> dict[str, Any]:
    """The agent calls a tool."""
    return {"type": "tool_call", "call_id": call_id, "name": name, "content": {"args": args or {}}, **more}


def answered(call_id: str, result: Any = None, *, error: Any = None, **more: Any) -> dict[str, Any]:
    """A tool answers, or fails with `error`."""
    content = {"error": error} if error else {"result": result or {"ok": True}}
    return {"type": "tool_result", "call_id": call_id, "is_error": bool(error), "content": content, **more}


def ended(outcome: str, error: Any = None, **more: Any) -> dict[str, Any]:
    """The run says that it ended."""
    return {"type": "ended", "outcome": outcome, "content": {"error": error} if error else None, **more}


@transaction.atomic
def interrupted(run: Run, why: str = "silent") -> Run:
    """As the sweep leaves a run that went silent."""
    Run.objects.filter(id=run.id).update(
        status="interrupted",
        interrupted_at=models.functions.Now(),
        interrupted_why=why,
        silent_after=None,
        overlong_after=None,
    )
    return Run.objects.get(id=run.id)


def dead_run(**more: Any) -> Run:
    """A run that went silent after it called send_email: only a forced replay can start it again."""
    new = run(**more)
    tell(new, said("I will write to the customer."), called("send_email", "c1", {"to": "anna@example.org"}))
    return interrupted(new)


def clean_run(**more: Any) -> Run:
    """A run that failed, and provably called nothing: it may start again."""
    return tell(run(**more), said("Done, I sent it!"), ended("failed", {"message": "model quota exhausted"}))


@transaction.atomic
def campaign(
    name: str = "Winter schedule",
    *,
    to: Iterable[tuple[str, dict[str, Any]]] | int = 3,
    files: Iterable[tuple[str, str, bytes]] = (),
    **more: Any,
) -> Campaign:
    """A sealed campaign that waits for approval. `to`: (address, variables) of each recipient, or how many.

    `files`: (name, type, bytes) of each that is attached, which a person sent before.
    """
    letter = LETTER | {field: more.pop(field) for field in list(more) if field in LETTER}
    fields = {"external_id": f"campaign-{next(_numbers)}", "agent": "outreach-writer"}
    made = Campaign.objects.create(workspace_id=current_workspace(), name=name, **(fields | more))
    version = Version.objects.create(workspace_id=made.workspace_id, campaign_id=made.id, number=1, **letter)
    people = recipients(to) if isinstance(to, int) else list(to)
    seen: dict[str, int] = {}
    for position, (email, variables) in enumerate(people, start=1):
        _recipient(version, position, email, variables, seen)
    attachments.attach(version, [_sent_before(*file) for file in files], by=SENDER)
    digest = version_digest(
        headers={key: letter[key] for key in ("from_address", "reply_to", "subject_line")},
        text=letter["text"],
        html=letter["html"] or None,
        recipients=[(p, email, canonical(variables)) for p, (email, variables) in enumerate(people, start=1)],
        attachments=attachments.sealed_as(version),
    )
    Version.objects.filter(id=version.id).update(digest=digest, sealed_at=models.functions.Now())
    return Campaign.objects.get(id=made.id)


def _sent_before(name: str, content_type: str, data: bytes) -> Wanted:
    kept, _ = attachments.keep(by=SENDER, pieces=[data], content_type=content_type)
    return Wanted(sha256=kept.sha256, filename=name, content_type=content_type)


def recipients(number: int) -> list[tuple[str, dict[str, Any]]]:
    """That many people who can be addressed."""
    return [(f"guest{n}@example.com", {"name": f"Guest {n}", "time": "09:40"}) for n in range(1, number + 1)]


def _recipient(
    version: Version, position: int, email: str, variables: dict[str, Any], seen: dict[str, int]
) -> None:
    found = check_address(email)
    row = AudienceRow(
        workspace_id=version.workspace_id, version_id=version.id, position=position, email=email,
        vars=canonical(variables), state="addressable",
    )  # fmt: skip
    if isinstance(found, Refused):
        row.state, row.reason = "refused", found.reason
    elif found.dedupe_key in seen:
        row.state, row.reason = "duplicate", f"The same address as row {seen[found.dedupe_key]}."
    row.address = "" if isinstance(found, Refused) else found.normal
    row.save(force_insert=True)
    if isinstance(found, Refused) or row.state != "addressable":
        return
    seen[found.dedupe_key] = position
    id = uuid4()
    Delivery.objects.create(
        id=id, workspace_id=version.workspace_id, campaign_id=version.campaign_id, version_id=version.id,
        audience_row_id=row.id, position=position, address=found.normal, dedupe_key=found.dedupe_key,
        message_id=message_id_of(str(id), version.from_address),
    )  # fmt: skip


@transaction.atomic
def shown_run(run: Run) -> Shown:
    """What the page of this run shows right now."""
    facts, _, digest = judged(run)
    return Shown(digest=digest, opened_at=datetime.now(UTC), told=told(facts))


@transaction.atomic
def shown_campaign(campaign: Campaign) -> Shown:
    """What the page of this campaign shows right now."""
    newest = Version.objects.filter(campaign_id=campaign.id).latest("number")
    return Shown(digest=newest.digest, opened_at=datetime.now(UTC))


@transaction.atomic
def shown_delivery(delivery: Delivery) -> Shown:
    """What the page of this delivery's version shows."""
    return Shown(digest=Version.objects.get(id=delivery.version_id).digest, opened_at=datetime.now(UTC))


@transaction.atomic
def rows(query: models.QuerySet[_Row]) -> list[_Row]:
    """The rows of a query, read in a transaction of their own."""
    return list(query.all())


def fresh(row: _Row) -> _Row:
    """The row as it is stored now."""
    query = type(row)._default_manager.filter(pk=row.pk)
    return rows(query.select_related("run") if isinstance(row, Job) else query)[0]


def ids(found: Iterable[Any]) -> set[UUID]:
    """Their ids."""
    return {row.id for row in found}
