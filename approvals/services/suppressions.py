"""Who is not to be written to: said by a person, or by the recipient with the link that every message carries.

An entry is added or released and never changed, so the list tells what was so and when. No import releases anybody.
"""

from uuid import UUID

from django.db import connection, transaction
from django.db.models.functions import Now

from approvals.access.actors import Actor
from approvals.db.binding import bind, current_workspace
from approvals.exceptions import Conflict, Invalid, NotFound
from approvals.models import Delivery, Suppression
from approvals.rules.addresses import Refused, check_header, check_recipient
from approvals.rules.decisions import reason_given
from approvals.services import decisions, secrets

LONGEST_SCOPE = 200  # characters
RELEASED = "This address was released already. Reload the list to see how it stands."


@transaction.atomic
def suppress(*, by: Actor, address: str, scope: str = "", reason: str) -> Suppression:
    """Nothing is sent to this address any more, by nobody or, with a scope, by one agent.

    Invalid, NotAllowed; Conflict where it is on the list already.
    """
    by.require("suppress")
    found = check_recipient(address)
    if isinstance(found, Refused):
        raise Invalid("address", found.reason)
    scope = scope.strip()
    if bad := check_header(scope):
        raise Invalid("scope", bad)
    if len(scope) > LONGEST_SCOPE:
        raise Invalid("scope", f"Keep the agent's name under {LONGEST_SCOPE} characters.")
    reason = reason_given(reason)
    entry = _add(found.dedupe_key, scope, "by_hand", by.name)
    if entry is None:
        raise Conflict("This address is on the list already, for the same agents.")
    _record(by, "suppress", entry, reason)
    return entry


@transaction.atomic
def release(*, by: Actor, suppression_id: UUID, reason: str) -> Suppression:
    """The address may be written to again. NotFound, NotAllowed, Invalid; Conflict where it was released already."""
    by.require("view")
    entry = Suppression.objects.select_for_update(no_key=True).filter(id=suppression_id).first()
    if entry is None:
        raise NotFound()
    by.require("release_suppressed")
    reason = reason_given(reason)
    if entry.released_at is not None:
        raise Conflict(RELEASED)
    Suppression.objects.filter(id=entry.id).update(released_at=Now())
    _record(by, "unsuppress", entry, reason)
    return entry


def _record(by: Actor, kind: str, entry: Suppression, reason: str) -> None:
    given = {"email": entry.dedupe_key, "scope": entry.scope, "why": entry.reason, "reason": reason}
    decisions.record(
        by=by,
        kind=kind,
        target_kind="suppression",
        target_id=entry.id,
        agent=entry.scope,
        evidence={name: value for name, value in given.items() if value},
    )


def link_for(delivery_id: UUID | str, base_url: str) -> str:
    """The address with which the recipient of a delivery unsubscribes; it works without signing in, for ever."""
    return f"{base_url.rstrip('/')}/u/{secrets.unsubscribe_token(UUID(str(delivery_id)))}"


def is_link(token: str) -> bool:
    """Whether this is the token of such an address."""
    return secrets.delivery_of_token(token) is not None


def unsubscribe(token: str) -> bool:
    """The recipient of a delivery hears no more from the agent that wrote to them; False for a token that is none.

    As often as one likes: the second time there is nothing left to do.
    """
    delivery_id = secrets.delivery_of_token(token)
    if delivery_id is None:
        return False
    with connection.cursor() as cursor:
        cursor.execute("select home_of_delivery(%s)", [delivery_id])
        [workspace_id] = cursor.fetchone()
    if workspace_id is None:
        return False
    with bind(workspace_id), transaction.atomic():
        delivery = Delivery.objects.select_related("campaign").get(id=delivery_id)
        _add(delivery.dedupe_key, delivery.campaign.agent, "unsubscribed", f"delivery {delivery_id}")
    return True


def _add(key: str, scope: str, reason: str, source: str) -> Suppression | None:
    """The new entry; None where there is one already."""
    new = Suppression(
        workspace_id=current_workspace(), dedupe_key=key, scope=scope, reason=reason, source=source
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "insert into approvals_suppression (id, workspace_id, dedupe_key, scope, reason, source)"
            " values (%s, %s, %s, %s, %s, %s) on conflict do nothing",
            [new.id, new.workspace_id, key, scope, reason, source],
        )
        return new if cursor.rowcount else None
