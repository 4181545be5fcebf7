"""Which tools of a runtime are campaigns: by an admin's word such a call only proposes what its arguments describe."""

from django.db import transaction

from approvals.access.actors import Actor
from approvals.exceptions import Conflict
from approvals.models import Runtime
from approvals.services import setup

MOST = 50  # tools of a runtime


@transaction.atomic
def declare(*, by: Actor, runtime: str, tool: str) -> Runtime:
    """From now on a call of this tool proposes a campaign; what was called before proposes nothing.

    NotFound for another runtime, NotAllowed, Invalid for no name of a tool, Conflict where it is declared already.
    """
    found, tool = _asked(by, runtime, tool)
    if tool in found.campaign_tools:
        raise Conflict(f'"{tool}" of {found.name} proposes campaigns already.')
    if len(found.campaign_tools) >= MOST:
        raise Conflict(f"{found.name} has {MOST} such tools; take one away first.")
    return _changed(by, found, [*found.campaign_tools, tool])


@transaction.atomic
def withdraw(*, by: Actor, runtime: str, tool: str) -> Runtime:
    """From now on a call of this tool is a call like any other; raises as `declare` does."""
    found, tool = _asked(by, runtime, tool)
    if tool not in found.campaign_tools:
        raise Conflict(f'"{tool}" of {found.name} does not propose campaigns.')
    return _changed(by, found, [name for name in found.campaign_tools if name != tool])


def _asked(by: Actor, runtime: str, tool: str) -> tuple[Runtime, str]:
    setup.may_set_up(by)
    return setup.runtime_named(runtime), setup.line("tool", tool)


def _changed(by: Actor, runtime: Runtime, tools: list[str]) -> Runtime:
    runtime.campaign_tools = sorted(tools)
    runtime.save(update_fields=["campaign_tools"])
    evidence = {"name": runtime.name, "campaign_tools": ", ".join(runtime.campaign_tools) or "none"}
    setup.log(by, "runtime_changed", runtime.id, evidence)
    return runtime
