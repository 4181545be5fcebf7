"""Campaigns that agents propose: stored once, with every recipient and why some get nothing, and sealed at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from approvals.access.actors import TokenBearer
from approvals.access.campaigns import campaigns_of_bearer, require_proposer
from approvals.access.datasets import dataset_for_bearer
from approvals.access.runs import run_for_bearer
from approvals.exceptions import Conflict, Invalid, NotFound
from approvals.models import AudienceRow, Campaign, Delivery, Runtime, Version
from approvals.rules.addresses import Address, Mailbox, Refused, check_address, check_header, check_mailbox
from approvals.rules.digests import canonical, version_digest
from approvals.rules.messages import merge, message_id_of
from approvals.selectors.suppressions import suppressed_among
from approvals.services import attachments, filling
from approvals.services.attachments import Wanted
from approvals.services.importing import ON_THE_LIST
from approvals.services.secrets import keyed_digest

_BATCH = 1_000  # rows an INSERT
_LONGEST_SHOWN = 1_000  # characters kept of what was given as an address


@dataclass(frozen=True, slots=True)
class Recipient:
    """Whom to write to, and what `{{ name }}` stands for: text, numbers, true or false."""

    email: str
    vars: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A campaign as its proposer describes it. `reply_to`, `purpose` and `html` may be empty."""

    external_id: str
    name: str
    purpose: str
    send_by: datetime | None
    run_id: UUID | None
    sender: str
    reply_to: str
    subject: str
    text: str
    html: str
    recipients: Sequence[Recipient]
    dataset_id: UUID | None = None  # an imported list in place of recipients
    where: Mapping[str, str] | None = None  # which of its rows: columns, and the value of each
    attachments: Sequence[Wanted] = ()


def propose(*, by: TokenBearer, proposal: Proposal) -> tuple[Campaign, bool]:
    """Store a campaign for a person to decide on; (the campaign, whether it is new).

    Conflict for another body under the same external id, Invalid naming a header field that cannot be written or a
    run that this token does not see, NotAllowed for a token bound to one subject.
    """
    require_proposer(by)
    digest = keyed_digest(canonical(_body(proposal)))
    if known := _known(by, proposal, digest):
        return known, False
    try:
        return _store(by, proposal, digest), True
    except IntegrityError as error:
        violated = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
        known = _known(by, proposal, digest) if violated == "campaign_external_id_once" else None
        if known is None:
            raise
        return known, False


def _body(proposal: Proposal) -> dict[str, Any]:
    """What makes two proposals the same."""
    of_list = {"dataset_id": str(proposal.dataset_id), "where": proposal.where} if proposal.dataset_id else {}
    files = [[one.sha256, one.filename, one.content_type] for one in proposal.attachments]
    return (
        of_list
        | ({"attachments": files} if files else {})
        | {
            "external_id": proposal.external_id,
            "name": proposal.name,
            "purpose": proposal.purpose,
            "send_by": proposal.send_by.isoformat() if proposal.send_by else None,
            "run_id": str(proposal.run_id) if proposal.run_id else None,
            "from": proposal.sender,
            "reply_to": proposal.reply_to,
            "subject": proposal.subject,
            "text": proposal.text,
            "html": proposal.html,
            "recipients": [[recipient.email, recipient.vars] for recipient in proposal.recipients],
        }
    )


@transaction.atomic
def _known(by: TokenBearer, proposal: Proposal, digest: str) -> Campaign | None:
    campaign = campaigns_of_bearer(by).filter(external_id=proposal.external_id).first()
    if campaign is not None and campaign.body_digest != digest:
        raise Conflict(
            "There is another campaign with this external_id. Give every campaign an id of its own.",
            code="external_id_conflict",
            field="external_id",
            extra={"id": str(campaign.id)},
        )
    return campaign


@transaction.atomic
def _store(by: TokenBearer, proposal: Proposal, digest: str) -> Campaign:
    sender = _check_headers(proposal)
    if proposal.dataset_id is not None:
        _check_list(by, proposal)
    campaign = Campaign.objects.create(
        workspace_id=by.workspace_id,
        runtime_id=by.runtime_id,
        run_id=proposal.run_id,
        external_id=proposal.external_id,
        agent=_agent(by, proposal),
        name=proposal.name,
        purpose=proposal.purpose,
        send_by=proposal.send_by,
        body_digest=digest,
    )
    version = Version.objects.create(
        workspace_id=by.workspace_id,
        campaign_id=campaign.id,
        number=1,
        from_address=proposal.sender,
        reply_to=proposal.reply_to,
        subject_line=proposal.subject,
        text=proposal.text,
        html=proposal.html,
    )
    if proposal.dataset_id is None:
        _fill(version, proposal, campaign.agent)
    else:
        filling.fill(
            version,
            dataset_id=proposal.dataset_id,
            where=proposal.where,
            agent=campaign.agent,
            sender=sender,
        )
    attachments.attach(version, proposal.attachments, by=by)
    _seal(version, proposal)
    return campaign


def _check_list(by: TokenBearer, proposal: Proposal) -> None:
    if proposal.dataset_id is None:
        return
    try:
        dataset = dataset_for_bearer(by, proposal.dataset_id)
    except NotFound:
        raise Invalid("dataset_id", "There is no such list, or none that this token may use.") from None
    filling.usable(dataset, proposal.where)


def _check_headers(proposal: Proposal) -> Mailbox:
    """The sender; Invalid for a header field that cannot be written."""
    sender = check_mailbox(proposal.sender)
    if isinstance(sender, Refused):
        raise Invalid("from", sender.reason)
    reply_to = check_mailbox(proposal.reply_to) if proposal.reply_to else None
    if isinstance(reply_to, Refused):
        raise Invalid("reply_to", reply_to.reason)
    if reason := check_header(proposal.subject):
        raise Invalid("subject", reason)
    return sender


def _agent(by: TokenBearer, proposal: Proposal) -> str:
    """Whose proposal it is: the agent of the run that makes it, else the runtime's name."""
    if proposal.run_id is None:
        return Runtime.objects.values_list("name", flat=True).get(id=by.runtime_id)
    try:
        return run_for_bearer(by, proposal.run_id).agent
    except NotFound:
        raise Invalid("run_id", "There is no such run, or none that this token may see.") from None


def _fill(version: Version, proposal: Proposal, agent: str) -> None:
    """Store the audience and one delivery for each that can be addressed."""
    rows, keys = _audience(version, proposal)
    suppressed = suppressed_among([*keys.values()], agent=agent)
    for row in rows:
        if keys.get(row.position) in suppressed:
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


def _seal(version: Version, proposal: Proposal) -> None:
    """From here neither the version nor its audience changes; its digest stands for both."""
    digest = version_digest(
        headers={
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
    Version.objects.filter(id=version.id).update(digest=digest, sealed_at=Now())


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
            row.reason = f"The same address as recipient {first}, who gets the one message."
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
