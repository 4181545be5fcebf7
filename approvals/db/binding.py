"""Which workspace, and which subject, this thread of control works for.

Bound before a transaction starts and never changed within one. The backend (approvals.db.base) writes the binding
into each transaction, where the row-level security policies read it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID


class BindingError(RuntimeError):
    """A programming error: the workspace would change under an open transaction."""


class NotBound(BindingError):
    """A programming error: a query on a workspace's rows without a workspace, or outside of a transaction."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A workspace, and the one subject that a subject-bound token may see (None: all)."""

    workspace_id: UUID
    subject: str | None = None

    def __post_init__(self) -> None:
        if self.subject == "":  # the policies would read it as "no subject", which is all of them
            raise BindingError("an empty subject is no subject")


_current: ContextVar[Binding | None] = ContextVar("binding", default=None)


def current() -> Binding | None:
    """The binding of this thread of control, or None."""
    return _current.get()


def current_workspace() -> UUID:
    """The bound workspace's id; NotBound without one."""
    binding = _current.get()
    if binding is None:
        raise NotBound("no workspace is bound here")
    return binding.workspace_id


@contextmanager
def bind(workspace_id: UUID | str, *, subject: str | None = None) -> Iterator[Binding]:
    """Work for one workspace within the block. BindingError where a transaction for another one is open."""
    binding = Binding(UUID(str(workspace_id)), subject)
    _refuse_open_transactions_of_others(binding)
    token = _current.set(binding)
    try:
        yield binding
    finally:
        _current.reset(token)


def _refuse_open_transactions_of_others(binding: Binding) -> None:
    from django.db import connections

    for connection in connections.all(initialized_only=True):
        bound = getattr(connection, "bound", None)
        if bound is not None and bound != binding:
            raise BindingError(f"a transaction for workspace {bound.workspace_id} is open")
