"""Runs of an ADK runtime that tests of their page look at."""

from approvals.db.binding import bind
from approvals.models import Observation
from tests import factories as f

LISTS = {
    "code": "rate_limited",
    "message": "The model's provider refused a request because of its rate limit. Completed: send_email."
    " Left open: none. Check what these calls have done, then decide how it goes on.",
    "completed": [{"id": "a1", "name": "send_email"}],
    "open": [],
}


def adk(world, version="2.13.0", **more):
    """An ADK runtime that says which version it is."""
    with bind(world.workspace.id):
        made = f.adk_runtime(**more)
    with world.bound():
        Observation.objects.create(workspace_id=world.workspace.id, runtime=made, version=version)
    return made


def seen(world, make, **more):
    """A run made by one of the factories."""
    with bind(world.workspace.id):
        return make(**more)


def observed(world, of, *lines, interrupted=False, **more):
    """A run with these lines."""
    with bind(world.workspace.id):
        run = f.observe(f.adk_run(of=of, **more), *lines)
        return f.interrupted(run) if interrupted else run


def broken_off(world, **more):
    """A run that broke off in send_email."""
    return seen(world, f.broken_off, of=adk(world), **more)


def held_call(world):
    """A run that asks before it calls send_email."""
    return seen(world, f.held_call, of=adk(world))


def handed_on(world):
    """A run that failed with a 429 after its mail."""
    return observed(
        world,
        adk(world),
        f.made("send_email", "a1", to="ann@example.org"),
        f.came("a1", status="sent"),
        f.spoke("", error={"code": "RESOURCE_EXHAUSTED", "message": "429 RESOURCE_EXHAUSTED"}),
        f.over("failed", error=LISTS),
    )
