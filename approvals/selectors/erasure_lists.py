"""What imported lists, stored files and the list of the suppressed hold of somebody who is to be erased."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet

from approvals.models import Attachment, Dataset, DatasetRow, Suppression, VersionAttachment
from approvals.rules.spelling import Spelling, spelling
from approvals.selectors.attachments import name_in_storage
from approvals.selectors.reach import spelling_of

SHOWN = 200


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file that was sent to be attached: its name in the storage, and `used`: under which name by what."""

    sha256: str
    stored_as: str
    used: tuple[str, ...]


def may_spell(spelled: Spelling, field: str) -> Q:
    """What Postgres can say of texts that may spell them; the rule says which do. Everything, where there is no way."""
    found = Q()
    for way in spelled.ways:
        found |= Q(**{f"{field}__icontains": way})
    return found


def rows_in(subject: str) -> QuerySet[DatasetRow]:
    """Their rows in imported lists, whatever became of each; refused ones where the cell spells them."""
    if not subject.strip():  # which is what stands where there is no address
        return DatasetRow.objects.none()
    rows = DatasetRow.objects.filter(erased_at=None)
    found = Q(dedupe_key=spelling_of(subject))
    for dataset_id, positions in _refused(subject).items():
        found |= Q(dataset_id=dataset_id, position__in=positions)
    return rows.filter(found)


def _refused(subject: str) -> dict[UUID, list[int]]:
    """Where a row was refused, by list: Postgres says what may spell them, the rule what does."""
    spelled = spelling(subject)
    may = Q(email__iexact=subject) | may_spell(spelled, "email")
    found: dict[UUID, list[int]] = {}
    rows = DatasetRow.objects.filter(may, state="refused", erased_at=None)
    for dataset_id, position, email in rows.values_list("dataset_id", "position", "email").iterator():
        if email.lower() == subject.lower() or spelled.in_text(email):
            found.setdefault(dataset_id, []).append(position)
    return found


def files_to_erase(subject: str, in_files: Collection[UUID] = ()) -> QuerySet[Dataset]:
    """Lists whose file has to go: with a row of theirs, or seen to spell them elsewhere; and the same file again."""
    named = Dataset.objects.filter(Q(id__in=rows_in(subject).values("dataset_id")) | Q(id__in=list(in_files)))
    return Dataset.objects.filter(
        sha256__in=named.values("sha256"), ended_at__isnull=False, file_erased_at=None
    )


def files_kept() -> list[Dataset]:
    """Lists that are over and whose file is still kept."""
    return list(Dataset.objects.filter(ended_at__isnull=False, file_erased_at=None).order_by("created_at"))


def files_left() -> list[str]:
    """The SHA-256 of each file that was erased and that no list of later date needs."""
    needed = Dataset.objects.filter(file_erased_at=None).values("sha256")
    gone = Dataset.objects.filter(file_erased_at__isnull=False).exclude(sha256__in=needed)
    return list(gone.order_by("sha256").values_list("sha256", flat=True).distinct())


def being_imported() -> str | None:
    """The name of a list that is not imported to its end; None where there is none."""
    return Dataset.objects.filter(ended_at=None).order_by("created_at").values_list("name", flat=True).first()


def suppressions_of(subject: str) -> QuerySet[Suppression]:
    """Their entries in the list of who is not to be written to, also those that were released."""
    key = spelling_of(subject)
    return Suppression.objects.filter(dedupe_key=key) if key else Suppression.objects.none()


def attachments_kept() -> list[str]:
    """The SHA-256 of every file that was sent to be attached, each once."""
    return list(Attachment.objects.order_by("sha256").values_list("sha256", flat=True).distinct())


def attached_as(workspace_id: UUID, sha256: str) -> AttachedFile:
    """One of them with the campaigns that attach it, SHOWN at most."""
    rows = VersionAttachment.objects.filter(attachment__sha256=sha256).order_by(
        "version__created_at", "position"
    )
    names = rows.values_list("filename", "version__campaign__name", "version__number")[:SHOWN]
    used = tuple(f"“{file}” of the campaign “{name}”, version {number}" for file, name, number in names)
    return AttachedFile(sha256, name_in_storage(workspace_id, sha256), used)


def attached_under_a_name_of(spelled: Spelling) -> set[str]:
    """The SHA-256 of files that a campaign attaches under a name that spells them."""
    if not spelled.ways:
        return set()
    rows = VersionAttachment.objects.filter(may_spell(spelled, "filename")).values_list(
        "filename", "attachment__sha256"
    )
    # Its ending would make another domain of an address.
    return {
        sha256 for name, sha256 in rows if spelled.in_text(name) or spelled.in_text(name.rpartition(".")[0])
    }
