"""Forgetting a person: their texts go, with the salts that would tell them again. Structure and log stay.

Only the owner may. One transaction: whoever is killed in between has erased nothing, and does it again.
"""

from dataclasses import asdict

from django.db import transaction
from django.db.models import F, Func, Value
from django.db.models.functions import Now

from approvals.access.actors import Actor
from approvals.db.binding import current_workspace
from approvals.exceptions import NotFound
from approvals.models import AudienceRow, Campaign, Decision
from approvals.rules.decisions import ERASED
from approvals.selectors import erasure
from approvals.selectors.erasure import Kept
from approvals.services import decisions


@transaction.atomic
def foresee(*, subject: str) -> Kept:
    """How much would be erased now. NotFound for somebody of whom nothing was ever known here."""
    if not erasure.is_known(subject):
        raise NotFound(
            f"Nothing in this workspace is about {subject}. A run goes by the customer that its runtime names, one of"
            " Google ADK by its user id; who is only mentioned in the texts of others is not found."
        )
    return erasure.kept(subject)


@transaction.atomic
def erase(*, by: Actor, subject: str, reason: str) -> tuple[Kept, Decision | None]:
    """Erase it; (how much that was, the entry of the log, None where nothing was left to erase).

    What is under way comes first: nobody decides on a run, or sends a message, with half of it gone.
    """
    _lock(subject)
    found = foresee(subject=subject)
    if not found:
        return found, None
    # The evidence first: it is found by way of rows that stay, and every count is of what was there.
    for payloads in (
        erasure.evidence_about(subject),
        erasure.events_of(subject),
        erasure.inputs_of(subject),
    ):
        payloads.delete()
    erasure.answers_about(subject).update(
        outcome=Func(F("outcome"), Value(erasure.QUOTED), Value(erasure.FORGOTTEN), function="regexp_replace")
    )
    AudienceRow.objects.filter(id__in=erasure.recipients_in(subject)).update(
        vars="{}", email="", address="", erased_at=Now()
    )
    erasure.deliveries_to(subject).filter(state="planned").update(
        state="skipped", settled_at=Now(), reply=ERASED
    )
    named = erasure.runs_of(subject).exists()
    entry = decisions.record(
        by=by,
        kind="erased",
        target_kind="workspace",
        target_id=current_workspace(),
        # As it stands in the log already; an address does not, and does not get there by being erased.
        subject=subject if named else "",
        evidence={"reason": reason, **asdict(found)},
    )
    return found, entry


def _lock(subject: str) -> None:
    """Their runs, lineage by lineage, and the campaigns that reach them."""
    runs = erasure.runs_of(subject).select_for_update(no_key=True)
    list(runs.order_by("lineage_id", "created_at", "id").values_list("id", flat=True))
    reaching = Campaign.objects.filter(id__in=erasure.deliveries_to(subject).values("campaign_id"))
    list(reaching.select_for_update(no_key=True).order_by("id").values_list("id", flat=True))
