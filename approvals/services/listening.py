"""Where a runtime listens for what became of the campaigns that it proposed, and with which secret it is told."""

from django.db import transaction
from django.db.models.functions import Now

from approvals.access.actors import Actor
from approvals.exceptions import Conflict
from approvals.models import Callback, Campaign, Runtime
from approvals.rules import webhooks
from approvals.rules.urls import callback_url_given
from approvals.selectors.callbacks import given_up
from approvals.services import secrets, setup
from approvals.services.setup import AddedRuntime


@transaction.atomic
def set_callback(*, by: Actor, runtime: str, callback_url: str) -> AddedRuntime:
    """The runtime of this name is told at this address from now on; without one it is not told any more.

    `signing_secret` is set where it had none and got one, to be shown once. What could not be told at the address
    before, also what was given up, is tried at once. NotFound, NotAllowed, Invalid.
    """
    setup.may_set_up(by)
    found = setup.runtime_named(runtime)
    found.callback_url = callback_url_given(callback_url)
    secret = webhooks.new_secret() if found.callback_url and not found.signing_secret else ""
    if secret:
        found.signing_secret = secrets.seal(secret)
    found.save(update_fields=["callback_url", "signing_secret"])
    if found.callback_url:
        _try_at_once(found)
    setup.log(by, "runtime_changed", found.id, {"name": found.name, "callback_url": found.callback_url})
    return AddedRuntime(found, secret)


@transaction.atomic
def new_secret(*, by: Actor, runtime: str) -> AddedRuntime:
    """Another secret in place of the one with which requests to this runtime are signed, to be shown once.

    For the owner of the tables alone (Postgres refuses everybody else), where the old one got known or cannot be read
    any more. What could not be told is tried at once. NotFound, NotAllowed, Conflict where nothing is signed.
    """
    setup.may_set_up(by)
    found = setup.runtime_named(runtime)
    if not found.signing_secret:
        raise Conflict(f"Nothing is signed for {found.name}; `runtime set-callback` gives it a secret.")
    secret = webhooks.new_secret()
    found.signing_secret = secrets.seal(secret)
    found.save(update_fields=["signing_secret"])
    if found.callback_url:
        _try_at_once(found)
    setup.log(by, "runtime_changed", found.id, {"name": found.name, "signing_secret": "made anew"})
    return AddedRuntime(found, secret)


def _try_at_once(runtime: Runtime) -> None:
    of_it = Callback.objects.filter(campaign_id__in=Campaign.objects.filter(runtime=runtime).values("id"))
    of_it.filter(id__in=given_up().values("id")).update(status="waiting", attempts=0)
    of_it.filter(status="waiting", lease_until=None).update(due_at=Now())
