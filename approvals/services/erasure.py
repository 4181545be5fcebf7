"""Forgetting a person: their texts go, with the salts that would tell them again. Structure and log stay.

Only the owner may. One transaction: whoever is killed in between has erased nothing, and does it again. Files come
before it, only read, and after it: the transaction marks what is to go, so whoever is killed then has it go next time.
Nothing is erased while it is on its way: a message that is being sent, or a list that is being imported.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import CharField, F, Func, Value
from django.db.models.functions import Cast, Now

from approvals.access.actors import Actor
from approvals.db.binding import current_workspace
from approvals.exceptions import Conflict, NotFound
from approvals.models import AudienceRow, Dataset, Decision
from approvals.rules.decisions import ERASED
from approvals.rules.spelling import spelling
from approvals.selectors import erasure, erasure_lists
from approvals.selectors.erasure import Kept
from approvals.selectors.erasure_lists import AttachedFile
from approvals.selectors.reach import spelling_of
from approvals.services import decisions, files
from approvals.services.datasets import name_in_storage
from approvals.services.secrets import keyed_digest

UNDER_WAY = (
    "A message to {subject} is being sent at this moment, so nothing was erased. Wait until it has ended, a minute or"
    " two, and say it again."
)
IMPORTING = (
    "The list “{name}” is being imported, and may hold {subject}, so nothing was erased. Wait until the page Lists says"
    " that it is ready, and say it again."
)


@dataclass(frozen=True, slots=True)
class InFiles:
    """What stored files spell somebody: lists, by id, and files that are attached or were sent to be."""

    lists: frozenset[UUID] = frozenset()
    attached: tuple[AttachedFile, ...] = ()


@transaction.atomic
def foresee(*, subject: str, in_files: Collection[UUID] = ()) -> Kept:
    """How much would be erased now; `in_files` are lists whose file spells them.

    NotFound for somebody of whom nothing was ever known here, Conflict while something to them is under way.
    """
    known = bool(in_files) or erasure.is_known(subject) or erasure.erased_as(_trace(subject))
    if not known:
        raise NotFound(
            f"Nothing in this workspace is about {subject}. A run goes by the customer that its runtime names, one of"
            " Google ADK by its user id; who is only mentioned in the texts of others is not found."
        )
    _refuse_under_way(subject)
    return erasure.kept(subject, in_files)


def look_through_files(*, subject: str) -> InFiles:
    """Read every stored file of the workspace for their address. Never inside a transaction; Unavailable.

    What is packed, as PDF and office documents are, hides it.
    """
    spelled, workspace_id = spelling(subject), current_workspace()
    if not spelled.ways:
        return InFiles()
    with transaction.atomic():
        lists = erasure_lists.files_kept()
        attached = erasure_lists.attachments_kept()
        named = erasure_lists.attached_under_a_name_of(spelled)
    found = [one.id for one in lists if files.spells(name_in_storage(workspace_id, one.sha256), spelled)]
    with transaction.atomic():
        kept = [erasure_lists.attached_as(workspace_id, sha256) for sha256 in attached]
    told = [one for one in kept if one.sha256 in named or files.spells(one.stored_as, spelled)]
    return InFiles(frozenset(found), tuple(told))


@transaction.atomic
def erase(
    *, by: Actor, subject: str, reason: str, in_files: Collection[UUID] = ()
) -> tuple[Kept, Decision | None]:
    """Erase it; (how much that was, the entry of the log, None where nothing was left to erase).

    What is under way comes first: nobody decides on a run, or sends a message, with half of it gone. The files of lists
    are only marked; `remove_files` takes them away.
    """
    _lock(subject)
    found = foresee(subject=subject, in_files=in_files)
    if not found:
        return found, None
    named = erasure.runs_of(subject).exists()
    objections, _ = kept_on_purpose(subject=subject)
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
    _erase_from_campaigns(subject)
    _erase_from_lists(subject, in_files)
    entry = decisions.record(
        by=by,
        kind="erased",
        target_kind="workspace",
        target_id=current_workspace(),
        # As it stands in the log already; an address does not, and does not get there by being erased.
        subject=subject if named else "",
        evidence={"reason": reason, "of": _trace(subject), "objections": objections, **asdict(found)},
    )
    return found, entry


@transaction.atomic
def kept_on_purpose(*, subject: str) -> tuple[int, int]:
    """(entries by which they are not to be written to, messages to them that were tried), which no erasure takes."""
    objections = erasure_lists.suppressions_of(subject).filter(released_at=None)
    return objections.count(), erasure.attempts_to(subject)


def remove_files() -> int:
    """Take away the files of lists that an erasure marked; how many there were. Never inside a transaction."""
    with transaction.atomic():
        left = erasure_lists.files_left()
    return sum(files.remove(name_in_storage(current_workspace(), sha256)) for sha256 in left)


def _erase_from_campaigns(subject: str) -> None:
    AudienceRow.objects.filter(id__in=erasure.recipients_in(subject)).update(
        vars="{}", email="", address="", erased_at=Now()
    )
    erasure.deliveries_to(subject).filter(state="planned").update(
        state="skipped", settled_at=Now(), reply=ERASED
    )
    # What was attempted keeps its address, as the proof of what was sent where.
    erasure.never_tried(subject).update(address="", dedupe_key=Cast("id", CharField()))


def _erase_from_lists(subject: str, in_files: Collection[UUID]) -> None:
    marked = erasure_lists.files_to_erase(subject, in_files).values_list("id", flat=True)
    Dataset.objects.filter(id__in=list(marked)).update(file_erased_at=Now())
    erasure_lists.rows_in(subject).update(
        email="", address="", dedupe_key="", vars="{}", unfit="", erased_at=Now()
    )
    erasure_lists.suppressions_of(subject).exclude(released_at=None).update(dedupe_key="")


def _trace(subject: str) -> str:
    """By which the log recognises them without naming them, so that a repetition is told as one."""
    return keyed_digest(f"erased {spelling_of(subject)}")


def _refuse_under_way(subject: str) -> None:
    sending = erasure.deliveries_to(subject).filter(state="attempting").exists()
    if sending or erasure.tests_of(subject).filter(status="running", intent_at__isnull=False).exists():
        raise Conflict(UNDER_WAY.format(subject=subject), code="under_way")
    if (name := erasure_lists.being_imported()) is not None:
        raise Conflict(IMPORTING.format(name=name, subject=subject), code="under_way")


def _lock(subject: str) -> None:
    """Their runs, lineage by lineage; the campaigns that have them; lists; and what is sent to them."""
    runs = erasure.runs_of(subject).select_for_update(no_key=True)
    list(runs.order_by("lineage_id", "created_at", "id").values_list("id", flat=True))
    reaching = erasure.campaigns_with(subject).select_for_update(no_key=True)
    list(reaching.order_by("id").values_list("id", flat=True))
    # Whoever fills a version from a list holds it, so that nobody slips from a row into an audience meanwhile.
    lists = Dataset.objects.filter(
        id__in=list(erasure_lists.rows_in(subject).values_list("dataset_id", flat=True))
    )
    list(lists.select_for_update(no_key=True).order_by("id").values_list("id", flat=True))
    tests = erasure.tests_of(subject).select_for_update(no_key=True)
    list(tests.order_by("id").values_list("id", flat=True))
    deliveries = erasure.deliveries_to(subject).select_for_update(no_key=True)
    list(deliveries.order_by("id").values_list("id", flat=True))
