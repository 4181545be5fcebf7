"""What is kept of one person that can be erased: the texts of their runs and of the decisions about them, and what
campaigns and lists know of them where they are an address."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet

from approvals.models import (
    AudienceRow,
    CalledCampaign,
    Campaign,
    Decision,
    Delivery,
    Event,
    Job,
    Payload,
    Run,
)
from approvals.rules.spelling import spelling
from approvals.selectors import erasure_lists
from approvals.selectors.reach import spelling_of

QUOTED = "“.*”"  # what stands in an outcome in somebody else's words (connectors.http)
FORGOTTEN = "“…”"


@dataclass(frozen=True, slots=True)
class Kept:
    """How much of it there is now."""

    runs: int
    inputs: int
    events: int
    evidence: int
    answers: int
    recipients: int
    planned: int  # deliveries to them that have not begun
    addresses: int  # deliveries to them that never began, these among them: they prove nothing
    list_rows: int
    list_files: int
    released: int  # entries of the list of the suppressed that hold no more

    def __bool__(self) -> bool:
        texts = self.inputs or self.events or self.evidence or self.answers
        sending = self.recipients or self.planned or self.addresses
        return bool(texts or sending or self.list_rows or self.list_files or self.released)


def runs_of(subject: str) -> QuerySet[Run]:
    """Their runs; a whole lineage is of one subject."""
    return Run.objects.filter(subject=subject)


def deliveries_to(subject: str) -> QuerySet[Delivery]:
    """What was or is to be sent to them."""
    return Delivery.objects.filter(dedupe_key=spelling_of(subject))


def never_tried(subject: str) -> QuerySet[Delivery]:
    """What was never sent to them, and will not be."""
    return deliveries_to(subject).filter(state__in=["planned", "skipped"], attempted_at=None)


def tests_of(subject: str) -> QuerySet[Job]:
    """Tests, to a member, that show the message to them."""
    return Job.objects.filter(sample_id__in=deliveries_to(subject).values("id"))


def campaigns_with(subject: str) -> QuerySet[Campaign]:
    """Whose audience they are in, also as somebody who got nothing."""
    versions = AudienceRow.objects.filter(id__in=recipients_in(subject)).values("version_id")
    named = Q(id__in=deliveries_to(subject).values("campaign_id")) | Q(versions__in=versions)
    return Campaign.objects.filter(id__in=Campaign.objects.filter(named).values("id"))


def inputs_of(subject: str) -> QuerySet[Payload]:
    """What their runs were started with."""
    return Payload.objects.filter(id__in=runs_of(subject).values("input_payload_id"))


def events_of(subject: str) -> QuerySet[Payload]:
    """What the journals of their runs carry, and what was wrong with it where it was to propose a campaign."""
    runs = runs_of(subject).values("id")
    events = Event.objects.filter(run_id__in=runs, payload_id__isnull=False).values("payload_id")
    refused = CalledCampaign.objects.filter(run_id__in=runs, why_payload_id__isnull=False)
    return Payload.objects.filter(Q(id__in=events) | Q(id__in=refused.values("why_payload_id")))


def evidence_about(subject: str) -> QuerySet[Payload]:
    """What deciders gave and were shown, of decisions on their runs, on deliveries to them, and on their entries in the
    list of the suppressed."""
    deliveries = deliveries_to(subject).values("id")
    jobs = Job.objects.filter(Q(delivery_id__in=deliveries) | Q(sample_id__in=deliveries))
    about = (
        Q(item_id__in=runs_of(subject).values("lineage_id"))
        | Q(target_kind="delivery", target_id__in=deliveries)
        | Q(target_kind="job", target_id__in=jobs.values("id"))
        | Q(target_kind="suppression", target_id__in=erasure_lists.suppressions_of(subject).values("id"))
    )
    return Payload.objects.filter(id__in=Decision.objects.filter(about).values("payload_id"))


def answers_about(subject: str) -> QuerySet[Job]:
    """Replays of their runs whose outcome quotes what the runtime answered."""
    return Job.objects.filter(run_id__in=runs_of(subject).values("id"), outcome__regex=QUOTED).exclude(
        outcome__contains=FORGOTTEN
    )


def recipients_in(subject: str) -> list[int]:
    """Their rows in the audiences of campaigns, also those that got nothing: as duplicates, or refused as what they
    spell together with something else."""
    addressed = AudienceRow.objects.filter(
        id__in=deliveries_to(subject).values("audience_row_id"), erased_at=None
    )
    key, spelled = spelling_of(subject), spelling(subject)
    # Postgres says what may be theirs, the rules what is: asked of every row they would hold the locks of an erasure
    # for minutes. What is not ASCII can be spelled in more ways than Postgres knows.
    may = Q(email__iexact=key) | Q(email__regex="[^\\x01-\\x7f]") | erasure_lists.may_spell(spelled, "email")
    excluded = AudienceRow.objects.filter(may, erased_at=None).exclude(state="addressable")
    also = [
        id
        for id, email in excluded.values_list("id", "email").iterator()
        if spelling_of(email) == key or spelled.in_text(email)
    ]
    return [*addressed.values_list("id", flat=True), *also]


def kept(subject: str, in_files: Collection[UUID] = ()) -> Kept:
    """How much there is to erase; `in_files` are the lists whose file was seen to spell them."""
    return Kept(
        runs=runs_of(subject).count(),
        inputs=inputs_of(subject).count(),
        events=events_of(subject).count(),
        evidence=evidence_about(subject).count(),
        answers=answers_about(subject).count(),
        recipients=len(recipients_in(subject)),
        planned=deliveries_to(subject).filter(state="planned").count(),
        addresses=never_tried(subject).count(),
        list_rows=erasure_lists.rows_in(subject).count(),
        list_files=erasure_lists.files_to_erase(subject, in_files).count(),
        released=erasure_lists.suppressions_of(subject).exclude(released_at=None).count(),
    )


def attempts_to(subject: str) -> int:
    """Deliveries to them that began: with their address they are the proof of what was sent where."""
    return deliveries_to(subject).exclude(attempted_at=None).count()


def is_known(subject: str) -> bool:
    """Whether anything here is, or was, about them."""
    if not subject.strip():
        return False
    if runs_of(subject).exists() or deliveries_to(subject).exists():
        return True
    if erasure_lists.suppressions_of(subject).exists() or erasure_lists.rows_in(subject).exists():
        return True
    return bool(recipients_in(subject))


def erased_as(digest: str) -> bool:
    """Whether the log says that whoever has this keyed digest was erased."""
    entries = Decision.objects.filter(kind="erased").values("payload_id")
    return Payload.objects.filter(id__in=entries, body__contains=f'"of":"{digest}"').exists()


def erased_recipient(audience_row_id: int) -> bool:
    """Whether nothing is known any more of this recipient."""
    return AudienceRow.objects.filter(id=audience_row_id, erased_at__isnull=False).exists()
