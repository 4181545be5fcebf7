"""What a benchmark's workspaces start from: made by the product's own services, as an operator makes them."""

from dataclasses import dataclass
from uuid import UUID

from approvals.access.actors import Actor, operator
from approvals.db.binding import bind
from approvals.services import setup

EMAIL = "bench@example.com"
PASSWORD = "a password for a bench"  # noqa: S105 - of a database that lives for minutes
ROLES = ("reviewer", "support", "manager")
BY = operator("bench")
PERSON = Actor("member", "1", "Bench", ROLES, "password")
RUNTIME = "agents"


@dataclass(frozen=True, slots=True)
class House:
    """A workspace with a member who may decide, a runtime and its token."""

    slug: str
    workspace_id: UUID
    runtime_id: UUID
    token: str


def make(slug: str, *, base_url: str = "http://127.0.0.1:9") -> House:
    """One more workspace. The member is the same person in each."""
    workspace = setup.create_workspace(by=BY, name=slug, slug=slug, hold_s=0)
    with bind(workspace.id):
        first = slug.endswith("1")
        setup.add_member(by=BY, email=EMAIL, roles=ROLES, name="Bench", password=PASSWORD if first else "")
        runtime = setup.add_runtime(by=BY, name=RUNTIME, base_url=base_url, writes_ahead=True).runtime
        token = setup.create_token(by=BY, runtime=RUNTIME).text
    return House(slug, workspace.id, runtime.id, token)
