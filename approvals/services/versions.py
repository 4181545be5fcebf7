"""A version of a campaign: who is in it and why others are not, sealed, and put in the place of the one before.

Once another version is there nothing more of an earlier one goes out: what was waiting is skipped, an approval that no
worker had begun with is void, and what an earlier version sent, or may have, no later one sends again.
"""

import json
from collections.abc import Sequence
from uuid import uuid4

from django.db.models.functions import Now

from approvals.access.actors import Actor, Proposer
from approvals.models import AudienceRow, Campaign, Dataset, Delivery, Job, Version
from approvals.models.delivery import MAY_HAVE_IT
from approvals.rules.addresses import Address, Mailbox, Refused, check_address, check_header
from approvals.rules.callbacks import REVISED
from approvals.rules.digests import canonical, version_digest
from approvals.rules.messages import merge, message_id_of
from approvals.rules.proposals import Proposal, Recipient
from approvals.selectors.campaign_counts import newest_version
from approvals.selectors.suppressions import suppressed_among
from approvals.services import attachments, callbacks, decisions, filling, overtaken
from approvals.services.importing import ON_THE_LIST
from approvals.services.jobs import OPEN, WAITING

_BATCH = 1_000  # rows an INSERT
_LONGEST_SHOWN = 1_000  # characters kept of what was given as an address
REPLACED = "Version {number} took the place of this one."


def renew(
    campaign: Campaign, proposal: Proposal, *, by: Proposer, sender: Mailbox, body_digest: str
) -> Version:
    """In the open transaction, with the campaign locked and not closed: its next version, which waits for a decision.

    Jobs and deliveries come before the campaign, as everybody takes them. What a worker has in its hands it settles;
    its next intent finds that the campaign is not being sent any more.
    """
    before = newest_version(campaign.id)
    number, was = before.number + 1, campaign.status
    said = REPLACED.format(number=number)
    Job.objects.filter(campaign_id=campaign.id, delivery=None, status__in=WAITING).update(
        status="cancelled", outcome=said
    )
    again = Job.objects.filter(campaign_id=campaign.id, delivery__isnull=False, status__in=OPEN)
    earlier = Version.objects.filter(campaign_id=campaign.id).values("id")  # the way into the index
    unsent = Delivery.objects.filter(version_id__in=earlier, state="planned")
    skipped = unsent.exclude(id__in=again.values("delivery_id")).update(
        state="skipped", settled_at=Now(), reply=said
    )
    overtaken.settle(campaign.id)
    campaign.status, campaign.finished_at, campaign.comment = "pending", None, ""
    campaign.name, campaign.purpose, campaign.send_by = proposal.name, proposal.purpose, proposal.send_by
    campaign.run_id = proposal.run_id or campaign.run_id  # a person's version stays that run's campaign
    campaign.save(update_fields=["status", "finished_at", "comment", "name", "purpose", "send_by", "run_id"])
    version = make(campaign, proposal, number=number, by=by, sender=sender, body_digest=body_digest)
    decision_id = uuid4()
    if isinstance(by, Actor):  # a runtime knows of what it proposes itself
        callbacks.note(campaign_id=campaign.id, type=REVISED, decision_id=decision_id)
    decisions.record(
        id=decision_id,
        by=_actor(by),
        kind="new_version",
        target_kind="campaign",
        target_id=campaign.id,
        item_id=campaign.id,
        agent=campaign.agent,
        digest=version.digest,
        evidence={
            "campaign": campaign.name,
            "version": number,
            "was": was,
            "skipped": skipped,
            "subject": version.subject_line,
        },
    )
    return version


def make(
    campaign: Campaign,
    proposal: Proposal,
    *,
    number: int,
    by: Proposer,
    sender: Mailbox,
    body_digest: str,
) -> Version:
    """In the open transaction: one version with its audience, sealed. Invalid where a list gives nobody."""
    who = _actor(by)
    version = Version.objects.create(
        workspace_id=campaign.workspace_id,
        campaign_id=campaign.id,
        number=number,
        from_address=proposal.sender,
        reply_to=proposal.reply_to,
        subject_line=proposal.subject,
        text=proposal.text,
        html=proposal.html,
        body_digest=body_digest,
        drawn_from=_drawn_from(campaign, proposal),
        proposer_kind=who.kind,
        proposer_id=who.id,
        proposer_name=who.name,
    )
    if proposal.rest:
        filling.fill_from_before(version, agent=campaign.agent, sender=sender)
    elif proposal.dataset_id is not None:
        filling.fill(
            version,
            dataset_id=proposal.dataset_id,
            where=proposal.where,
            agent=campaign.agent,
            sender=sender,
        )
    else:
        _fill(version, proposal, campaign.agent)
    attachments.attach(version, proposal.attachments, by=by)
    _seal(version, proposal)
    return version


def _drawn_from(campaign: Campaign, proposal: Proposal) -> str:
    """The list behind the audience, as whoever decides reads it; it may be called otherwise by then."""
    if proposal.rest:
        before = newest_version(campaign.id).drawn_from
        return canonical((json.loads(before) if before else {}) | {"rest": True})
    if proposal.dataset_id is None:
        return ""
    name, rows = Dataset.objects.values_list("name", "total").get(id=proposal.dataset_id)
    return canonical({"list": name, "rows": rows, "where": dict(proposal.where or {})})


def _actor(by: Proposer) -> Actor:
    return by if isinstance(by, Actor) else by.actor


def _fill(version: Version, proposal: Proposal, agent: str) -> None:
    """Store the audience and one delivery for each that can be addressed."""
    rows, keys = _audience(version, proposal)
    suppressed = suppressed_among([*keys.values()], agent=agent)
    reached = _reached(version, [*keys.values()])
    for row in rows:
        key = keys.get(row.position)
        if key in reached:
            row.state, row.reason = "already_sent", filling.ALREADY_SENT
        elif key in suppressed:
            row.state, row.reason = "suppressed", ON_THE_LIST
    AudienceRow.objects.bulk_create(rows, batch_size=_BATCH)
    deliveries = []
    for row in rows:
        if row.state != "addressable":
            continue
        delivery = Delivery(
            id=uuid4(),
            workspace_id=version.workspace_id,
            campaign_id=version.campaign_id,
            version_id=version.id,
            audience_row_id=row.id,
            position=row.position,
            address=row.address,
            dedupe_key=keys[row.position],
        )
        delivery.message_id = message_id_of(delivery.id.hex, proposal.sender)
        deliveries.append(delivery)
    Delivery.objects.bulk_create(deliveries, batch_size=_BATCH)


def _reached(version: Version, keys: Sequence[str]) -> frozenset[str]:
    """Whom of these an earlier version reached, or may have; of what is under way its turn decides."""
    reached = Delivery.objects.filter(
        campaign_id=version.campaign_id, dedupe_key__in=keys, state__in=MAY_HAVE_IT
    )
    return frozenset(reached.values_list("dedupe_key", flat=True))


def _seal(version: Version, proposal: Proposal) -> None:
    """From here neither the version nor its audience changes; its digest stands for both."""
    version.digest = version_digest(
        headers={
            "version": str(version.number),
            "name": proposal.name,
            "purpose": proposal.purpose,
            "send_by": proposal.send_by.isoformat() if proposal.send_by else None,
            "from": proposal.sender,
            "reply_to": proposal.reply_to or None,
            "subject": proposal.subject,
        },
        text=proposal.text,
        html=proposal.html or None,
        recipients=filling.addressed(version),
        attachments=attachments.sealed_as(version),
    )
    Version.objects.filter(id=version.id).update(digest=version.digest, sealed_at=Now())


def _audience(version: Version, proposal: Proposal) -> tuple[list[AudienceRow], dict[int, str]]:
    """A row for each recipient in order, and the dedupe key of each that can be addressed, by position."""
    rows: list[AudienceRow] = []
    keys: dict[int, str] = {}
    taken: dict[str, int] = {}
    for position, recipient in enumerate(proposal.recipients, start=1):
        row = AudienceRow(
            workspace_id=version.workspace_id,
            version_id=version.id,
            position=position,
            email=_shown(recipient.email),
            vars=canonical(recipient.vars),
        )
        address = _addressed(recipient, proposal.subject)
        if isinstance(address, Refused):
            row.state, row.reason = "refused", address.reason
        elif (first := taken.setdefault(address.dedupe_key, position)) != position:
            row.state, row.address = "duplicate", address.normal
            row.reason = f"The same address as recipient {first}, which stands for both."
        else:
            row.state, row.address = "addressable", address.normal
            keys[position] = address.dedupe_key
        rows.append(row)
    return rows, keys


def _addressed(recipient: Recipient, subject: str) -> Address | Refused:
    address = check_address(recipient.email)
    if isinstance(address, Address):
        merged, _ = merge(subject, recipient.vars)
        if reason := check_header(merged):
            return Refused(f"With this recipient's variables the subject cannot be written: {reason}")
    return address


def _shown(email: str) -> str:
    return email if len(email) <= _LONGEST_SHOWN else f"{email[: _LONGEST_SHOWN - 1]}…"
