"""Runs that tests of their page look at, and what they are asked there."""

from approvals.models import Decision
from tests.views.forms import form_of, send
from tests.world import answer, call, ended, said

REASON = "The provider says that no mail went out."


def dead(world, **more):
    """A run that broke off after it called send_email."""
    return world.run(
        "refund-8841",
        said("I will look it up and write to her."),
        call("c1", "look_up", booking="NW-1"),
        answer("c1", {"price": "418 EUR"}, receipt="crm-77"),
        call("c2", "send_email", to="ann@example.com"),
        **more,
    )


def clean(world):
    """A run that called nothing and failed."""
    return world.run(
        "rebook-7", said("Done! I moved your booking."), ended("failed", "model quota exhausted")
    )


def page(world, run, role="support", **more):
    return world.visit(role).get(world.at(f"runs/{run.id}/"), more)


def entries(world):
    """What was decided, in order; what came of it and who was refused stand in the log too."""
    decided = Decision.objects.filter(actor_kind="member").exclude(kind="refused")
    return world.read(lambda: list(decided.order_by("seq")))


def kinds(world):
    return [entry.kind for entry in entries(world)]


def forced(world, run, role="support"):
    """Somebody forces a replay on the page."""
    client = world.visit(role)
    form = form_of(client.get(world.at(f"runs/{run.id}/")), "/force")
    return client, form, send(client, form, ack=form.ticks["ack"], reason=REASON)
