"""Setting up: workspaces, their members, runtimes and tokens. Each is an entry in the decision log.

All but `create_workspace` work in the bound workspace. Secrets come back once, to be shown once; what is stored is
encrypted or a digest, and no secret gets into the log.
"""

import secrets as random
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from allauth.account.models import EmailAddress
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.text import slugify

from approvals.access.actors import Actor
from approvals.db.binding import bind, current_workspace
from approvals.db.violations import violated
from approvals.exceptions import Conflict, Invalid, NotFound
from approvals.models import Member, Observation, Runtime, Token, User, Workspace
from approvals.rules import webhooks
from approvals.rules.addresses import check_header
from approvals.rules.permissions import ROLES
from approvals.rules.urls import base_url_given, callback_url_given, database_url_given
from approvals.services import decisions, secrets

LONGEST_NAME = 200
LONGEST_SLUG = 60
LONGEST_EMAIL = 254
KINDS = ("http", "adk")
HOLD_S = 60  # in which an approval can be taken back
LONGEST_HOLD_S = 24 * 3600
HIGHEST_PACE = 1_000_000  # messages a minute
LONGEST_SILENCE_S = 7 * 24 * 3600
LONGEST_RUN_S = 31 * 24 * 3600


@dataclass(frozen=True, slots=True)
class AddedMember:
    """A new membership; `password` is set where one was made up for a new user."""

    member: Member
    user: User
    password: str | None


@dataclass(frozen=True, slots=True)
class AddedRuntime:
    """A new runtime and the secret that its requests are signed with; empty where no request is signed."""

    runtime: Runtime
    signing_secret: str


@dataclass(frozen=True, slots=True)
class CreatedToken:
    """A new token and its text, which is not stored."""

    token: Token
    text: str


def create_workspace(*, by: Actor, name: str, slug: str = "", hold_s: int = HOLD_S) -> Workspace:
    """A new workspace; Conflict where its slug is taken. Without `slug` it is made from the name.

    `hold_s` is how many seconds an approved campaign waits, in which the approval can be taken back.
    """
    may_set_up(by)
    name = line("name", name)
    slug = _slug(slug or slugify(name)[:LONGEST_SLUG].strip("-_"))
    workspace = Workspace(id=uuid4(), name=name, slug=slug, hold_s=_hold(hold_s))
    taken = {"approvals_workspace_slug_key": f'There is already a workspace "{slug}"; choose another name.'}
    with bind(workspace.id), _conflicts(taken), transaction.atomic():
        workspace.save(force_insert=True)
        log(by, "workspace_created", workspace.id, {"name": name, "slug": slug, "hold_s": hold_s})
    return workspace


def set_pace(*, by: Actor, messages_per_minute: int) -> None:
    """How many messages of the bound workspace may leave in a minute; 0: as many as the mail server takes."""
    may_set_up(by)
    if not 0 <= messages_per_minute <= HIGHEST_PACE:
        raise Invalid(
            "messages_per_minute", f"The pace is from 0 (no limit) to {HIGHEST_PACE:,} messages a minute."
        )
    with transaction.atomic():
        workspace = Workspace.objects.get()
        Workspace.objects.update(messages_per_minute=messages_per_minute)
        told = {"name": workspace.name, "messages_per_minute": messages_per_minute}
        log(by, "workspace_paced", workspace.id, told)


def set_hold(*, by: Actor, hold_s: int) -> None:
    """How many seconds an approved campaign of the bound workspace waits before it goes out, from now on."""
    may_set_up(by)
    hold_s = _hold(hold_s)
    with transaction.atomic():
        workspace = Workspace.objects.get()
        Workspace.objects.update(hold_s=hold_s)
        log(by, "workspace_held", workspace.id, {"name": workspace.name, "hold_s": hold_s})


def add_member(
    *, by: Actor, email: str, roles: Collection[str], password: str = "", name: str = ""
) -> AddedMember:
    """A person joins the workspace: a user that exists, or a new one, whose password is made up if none is given."""
    may_set_up(by)
    email = _email(email)
    wanted = _roles(roles)
    name = line("name", name) if name else ""
    taken = {
        "member_once": f"{email} is already a member of this workspace.",
        "user_email_once": f"{email} was added by somebody else just now; try again.",
    }
    with _conflicts(taken), transaction.atomic():
        user = User.objects.filter(email__iexact=email).first()
        made_up = None
        if user and password:
            raise Conflict(f"{email} can sign in already; leave the password out.")
        if user is None:
            made_up = None if password else random.token_urlsafe(15)
            user = _new_user(email, password or made_up or "", name)
        EmailAddress.objects.get_or_create(
            user=user, email=user.email, defaults={"verified": True, "primary": True}
        )
        member = Member.objects.create(workspace_id=current_workspace(), user=user, roles=wanted)
        log(by, "member_added", member.id, {"email": user.email, "name": user.name, "roles": wanted})
    return AddedMember(member, user, made_up)


def add_runtime(
    *,
    by: Actor,
    name: str,
    base_url: str,
    kind: str = "http",
    database_url: str = "",
    silence_s: int = 300,
    time_limit_s: int = 21_600,
    writes_ahead: bool = False,
    hides_calls: bool = False,
    callback_url: str = "",
) -> AddedRuntime:
    """A runtime that may report and, with a base URL, be asked to start runs again.

    One of the kind adk does not report: its own store is read, from the next moment on. `database_url` says where that
    is, and is kept encrypted; the log names host and database only. At `callback_url` it is told what became of its
    campaigns, signed, so that one of the kind adk has a secret then too.
    """
    may_set_up(by)
    name = line("name", name)
    if kind not in KINDS:
        raise Invalid("kind", f"The kind of a runtime is {' or '.join(KINDS)}.")
    _fitting(kind, database_url, writes_ahead=writes_ahead, hides_calls=hides_calls)
    observed = kind == "adk"
    store = database_url_given(database_url) if observed else ""
    callback_url = callback_url_given(callback_url)
    secret = "" if observed and not callback_url else webhooks.new_secret()
    runtime = Runtime(
        workspace_id=current_workspace(),
        name=name,
        kind=kind,
        base_url=base_url_given(base_url),
        silence_s=_seconds("silence_s", silence_s, LONGEST_SILENCE_S),
        time_limit_s=_seconds("time_limit_s", time_limit_s, LONGEST_RUN_S),
        writes_ahead=writes_ahead,
        hides_calls=hides_calls,
        signing_secret=secrets.seal(secret) if secret else b"",
        database_url=secrets.seal(store) if store else b"",
        callback_url=callback_url,
    )
    said = ["name", "kind", "base_url", "silence_s", "time_limit_s"]
    said.append("hides_calls" if observed else "writes_ahead")
    said += ["callback_url"] if callback_url else []
    evidence = {field: getattr(runtime, field) for field in said}
    taken = f'There is already a runtime "{name}" in this workspace.'
    if observed:
        taken += " `runtime set-database` and the Setup page say where the store of a runtime is from now on."
    with _conflicts({"runtime_name_once": taken}), transaction.atomic():
        _refuse_read_twice(runtime, store)
        runtime.save(force_insert=True)
        if observed:
            Observation.objects.create(workspace_id=runtime.workspace_id, runtime=runtime)
            evidence["store"] = _store_of(store)
        log(by, "runtime_added", runtime.id, evidence)
    return AddedRuntime(runtime, secret)


@transaction.atomic
def set_runtime_database(*, by: Actor, runtime: str, database_url: str) -> Runtime:
    """Where the store of the adk runtime of this name is from now on, such as under a new password; read at once."""
    may_set_up(by)
    found = runtime_named(runtime)
    if found.kind != "adk":
        raise Conflict(f'"{found.name}" reports by itself ({found.kind}), so no database of its is read.')
    store = database_url_given(database_url)
    found.database_url = secrets.seal(store)
    found.save(update_fields=["database_url"])
    Observation.objects.filter(runtime=found).update(due_at=Now())
    log(by, "runtime_changed", found.id, {"name": found.name, "store": _store_of(store)})
    return found


def runtime_named(name: str) -> Runtime:
    """Within a transaction: the runtime of this name, locked, for whoever changes it; NotFound without one."""
    found = Runtime.objects.select_for_update(no_key=True).filter(name=name).first()
    if found is None:
        raise NotFound(f'There is no runtime "{name}" in this workspace; `runtime list` shows all of them.')
    return found


@transaction.atomic
def set_password(*, by: Actor, email: str, password: str = "") -> str | None:
    """A new password for a member of this workspace; the one that was made up, if none is given."""
    may_set_up(by)
    member = Member.objects.select_related("user").filter(user__email__iexact=email.strip()).first()
    if member is None:
        raise NotFound(f"{email} is not a member of this workspace; `member add` lets somebody in.")
    made_up = None if password else random.token_urlsafe(15)
    member.user.set_password(_password(password or made_up or "", member.user))
    member.user.save(update_fields=["password"])
    log(by, "password_set", member.id, {"email": member.user.email})
    return made_up


@transaction.atomic
def create_token(*, by: Actor, runtime: str, subject: str | None = None) -> CreatedToken:
    """A token for the runtime of this name; with a subject it sees and feeds that subject's runs alone."""
    may_set_up(by)
    if subject is not None:
        line("subject", subject)  # kept as it is: runs are told by exactly this text
    owner = Runtime.objects.filter(name=runtime).first()
    if owner is None:
        raise NotFound(f'There is no runtime "{runtime}" in this workspace; `runtime add` makes one.')
    text, digest, hint = secrets.new_token()
    token = Token.objects.create(
        workspace_id=owner.workspace_id, runtime=owner, subject=subject, digest=digest, hint=hint
    )
    log(by, "token_created", token.id, {"runtime": owner.name, "subject": subject, "hint": hint})
    return CreatedToken(token, text)


@transaction.atomic
def revoke_token(*, by: Actor, token: str) -> Token:
    """End a token for good: known by its id, by the characters it begins with, or by its whole text."""
    may_set_up(by)
    found = _token(token)
    if not Token.objects.filter(id=found.id, revoked_at__isnull=True).update(revoked_at=Now()):
        raise Conflict(f"Token {found} was revoked before.")
    found.refresh_from_db(fields=["revoked_at"])
    evidence = {"runtime": found.runtime.name, "subject": found.subject, "hint": found.hint}
    log(by, "token_revoked", found.id, evidence)
    return found


def _fitting(kind: str, database_url: str, *, writes_ahead: bool, hides_calls: bool) -> None:
    """Invalid for what says nothing of this kind of runtime: one is read, the other reports."""
    if kind == "adk" and not database_url.strip():
        raise Invalid("database_url", "An ADK runtime is read from its own database; say its database URL.")
    if kind == "adk" and writes_ahead:
        raise Invalid("writes_ahead", "Only a runtime that reports can write ahead; an ADK runtime is read.")
    if kind != "adk" and database_url:
        raise Invalid(
            "database_url", f"Only an ADK runtime has a database that is read, not one of kind {kind}."
        )
    if kind != "adk" and hides_calls:
        raise Invalid(
            "hides_calls", f"Only an ADK runtime can be said to hide calls, not one of kind {kind}."
        )


def _refuse_read_twice(runtime: Runtime, store: str) -> None:
    """Conflict where another runtime is this one: each of its runs would wait twice, and two people decide on one."""
    others = Runtime.objects.filter(kind="adk", base_url=runtime.base_url).exclude(name=runtime.name)
    for other in others if store else ():
        if _store_of(secrets.unseal(bytes(other.database_url))) == _store_of(store):
            raise Conflict(
                f'"{other.name}" is this service with this database already; its runs would be in the queue twice.',
                code="taken",
            )


def _store_of(database_url: str) -> str:
    """Host and database of a checked URL, without user, password and options: what the log may keep."""
    parts = urlsplit(database_url)
    return f"{parts.netloc.rpartition('@')[2]}{parts.path}"


def _token(word: str) -> Token:
    tokens = Token.objects.select_related("runtime")
    try:
        named = list(tokens.filter(id=UUID(word)))
    except ValueError:
        named = list(tokens.filter(digest=secrets.token_digest(word)) or tokens.filter(hint=word.rstrip("…")))
    if not named:
        raise NotFound(f'There is no token "{word[:8]}" in this workspace.')
    if len(named) > 1:
        ids = ", ".join(str(token.id) for token in named)
        raise Conflict(f"{len(named)} tokens begin with {word}; name one by its id: {ids}.")
    return named[0]


def may_set_up(by: Actor) -> None:
    """NotAllowed for whoever is neither an operator nor an admin."""
    if by.kind != "operator":
        by.require("set_up")


def log(by: Actor, kind: str, target_id: UUID, evidence: dict[str, Any]) -> None:
    """The entry about what was set up, whose kind begins with what that is."""
    target_kind = kind.partition("_")[0]
    decisions.record(by=by, kind=kind, target_kind=target_kind, target_id=target_id, evidence=evidence)


@contextmanager
def _conflicts(taken: dict[str, str]) -> Iterator[None]:
    """Nothing is asked first: the constraint says who was first, and this says so in a sentence."""
    try:
        yield
    except IntegrityError as error:
        constraint = violated(error)
        if constraint not in taken:
            raise
        raise Conflict(taken[constraint], code="taken") from None


def _new_user(email: str, password: str, name: str) -> User:
    return User.objects.create_user(email, _password(password, User(email=email, name=name)), name=name)


def _password(password: str, user: User) -> str:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid("password", " ".join(error.messages)) from None
    return password


def line(field: str, text: str) -> str:
    """The text without space around it; Invalid where it is missing, too long or more than a line."""
    if not text.strip():
        raise Invalid(field, f"The {field} is missing.")
    if len(text) > LONGEST_NAME:
        raise Invalid(field, f"The {field} is longer than {LONGEST_NAME} characters.")
    if reason := check_header(text):
        raise Invalid(field, f"The {field} cannot be stored: {reason}")
    return text.strip()


def _hold(seconds: int) -> int:
    if not 0 <= seconds <= LONGEST_HOLD_S:
        raise Invalid("hold_s", f"The hold is a number of seconds from 0 (none) to {LONGEST_HOLD_S} (a day).")
    return seconds


def _slug(slug: str) -> str:
    if not slug:
        raise Invalid("slug", "No address can be made from this name; choose one with --slug, such as acme.")
    if slugify(slug) != slug or len(slug) > LONGEST_SLUG:
        raise Invalid(
            "slug", f"A slug has only small letters, digits, - and _, and at most {LONGEST_SLUG} of them."
        )
    return slug


def _email(text: str) -> str:
    try:
        validate_email(text)
        if len(text) > LONGEST_EMAIL:
            raise ValidationError("too long")
    except ValidationError:
        raise Invalid("email", f'"{text[:LONGEST_EMAIL]}" is no e-mail address.') from None
    return text.lower()


def _roles(roles: Collection[str]) -> list[str]:
    unknown = [role for role in roles if role not in ROLES]
    if unknown or not roles:
        what = f'"{unknown[0]}" is no role' if unknown else "A member needs a role"
        raise Invalid("roles", f"{what}; there are {', '.join(ROLES)}.")
    return [role for role in ROLES if role in roles]


def _seconds(field: str, value: int, longest: int) -> int:
    if not 1 <= value <= longest:
        raise Invalid(field, f"{field} is a number of seconds from 1 to {longest}.")
    return value
