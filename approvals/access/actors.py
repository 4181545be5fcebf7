"""Who acts: a member on a page, a token at the machine API, a run by what it calls, the rule itself, the operator at a
command, or nobody."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from approvals.exceptions import NotAllowed
from approvals.rules import permissions


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it, as the decision log keeps it: frozen at the moment of the decision."""

    kind: str  # member, token, rule, operator, run or system
    id: str
    name: str
    roles: tuple[str, ...] = ()
    sign_in: str = ""

    def may(self, permission: str) -> bool:
        """Whether a role of this actor has the permission."""
        return permissions.allowed(self.roles, permission)

    def require(self, permission: str) -> None:
        """NotAllowed, with the sentence that says which role is needed, unless this actor may."""
        if not self.may(permission):
            raise NotAllowed(permissions.why_not(permission))


@dataclass(frozen=True, slots=True)
class Membership:
    """One workspace of a user."""

    workspace_id: UUID
    slug: str
    name: str
    member_id: UUID
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TokenBearer:
    """Who a bearer token speaks for. With a subject it is blind to every other subject's runs."""

    workspace_id: UUID
    token_id: UUID
    runtime_id: UUID
    subject: str | None
    hint: str

    @property
    def actor(self) -> Actor:
        """The token as the decision log names it."""
        return Actor(kind="token", id=str(self.token_id), name=f"token {self.hint}…")


@dataclass(frozen=True, slots=True)
class CallingRun:
    """A run whose call of a declared tool proposes a campaign: for its runtime, as a token that is bound to nobody."""

    runtime_id: UUID
    run_id: UUID
    external_id: str
    agent: str

    @property
    def subject(self) -> None:
        """A campaign speaks to many, whomever the run is about."""
        return

    @property
    def actor(self) -> Actor:
        """The run as the decision log names it."""
        return Actor(kind="run", id=str(self.run_id), name=f"{self.agent}, run {self.external_id}")


Proposer = Actor | TokenBearer | CallingRun

# The product itself: it writes down what came of an execution, or that the log was verified. It decides nothing.
SECONDLOOK = Actor(kind="system", id="Secondlook", name="Secondlook")


def operator(name: str) -> Actor:
    """Whoever runs a command on the machine; `name` is the system account."""
    return Actor(kind="operator", id=name, name=name)


def rule_for(bearer: TokenBearer) -> Actor:
    """The rule that lets a known-empty run start again, asked for by this token."""
    return Actor(kind="rule", id=str(bearer.token_id), name=f"the rule, asked for by token {bearer.hint}…")


def memberships_of(user_id: int) -> Sequence[Membership]:
    """The workspaces of a user, by name; read through a narrow function, since no workspace is bound yet."""
    with connection.cursor() as cursor:
        cursor.execute("select workspace_id, slug, name, member_id, roles from workspaces_of(%s)", [user_id])
        return [Membership(row[0], row[1], row[2], row[3], tuple(row[4])) for row in cursor.fetchall()]


def bearer_of(digest: bytes) -> TokenBearer | None:
    """Whose token has this SHA-256, or None for an unknown or revoked one."""
    with connection.cursor() as cursor:
        cursor.execute("select workspace_id, token_id, runtime_id, subject, hint from token_of(%s)", [digest])
        row = cursor.fetchone()
    return TokenBearer(*row) if row else None
