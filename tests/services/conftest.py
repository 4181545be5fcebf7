"""What tests of the services start with; `desk` binds a workspace of its own for a test."""

from collections.abc import Callable, Iterator
from uuid import UUID

import pytest

from approvals.access.actors import Actor
from approvals.db.binding import bind
from approvals.models import Workspace
from tests import factories, shared
from tests.shared import as_owner, as_superuser, database

__all__ = ["as_owner", "as_superuser", "database"]


@pytest.fixture
def desk(database: str) -> Iterator[Workspace]:
    """A bound workspace."""
    del database
    made = factories.workspace(shared.slug())
    with bind(made.id):
        yield made


@pytest.fixture
def lease_over(as_superuser: Callable[..., None]) -> Callable[[UUID], None]:
    """Let the lease of a job run out."""
    return lambda job_id: as_superuser(
        "update approvals_job set lease_until = now() - interval '1 second' where id = %s", job_id
    )


@pytest.fixture
def ada() -> Actor:
    """Works in support: decides about runs."""
    return factories.actor("Ada", "support")


@pytest.fixture
def ben() -> Actor:
    """Works in support too."""
    return factories.actor("Ben", "support")


@pytest.fixture
def mia() -> Actor:
    """A reviewer: decides about campaigns."""
    return factories.actor("Mia", "reviewer")


@pytest.fixture
def rob() -> Actor:
    """Another reviewer."""
    return factories.actor("Rob", "reviewer")
