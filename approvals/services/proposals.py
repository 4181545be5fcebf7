"""Campaigns that are proposed, by agents and by people: each intent once, whatever its wording.

The external id is the key of the intent. The same body again changes nothing; another body is the next version of the
same campaign, so an agent that crashed and words its text anew does not propose it a second time.
"""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from approvals.access.actors import Actor, CallingRun, Proposer
from approvals.access.campaigns import campaigns_of, require_may_propose
from approvals.access.datasets import dataset_for, dataset_for_bearer
from approvals.access.desk import campaign_for
from approvals.access.runs import run_for_bearer
from approvals.db.binding import current_workspace
from approvals.db.violations import violated
from approvals.exceptions import Conflict, Invalid, NotFound
from approvals.models import Campaign, Dataset, Runtime, Version, Workspace
from approvals.rules.addresses import Mailbox
from approvals.rules.digests import canonical
from approvals.rules.proposals import CLOCKS_S, Proposal, body_of, check_terms, refuse_over
from approvals.rules.shown import Shown
from approvals.selectors.campaign_counts import newest_version
from approvals.services import filling, versions
from approvals.services.campaigns import another_version
from approvals.services.secrets import keyed_digest

CLOSED = {
    "rejected": "This campaign was rejected. Propose another one under an external_id of its own.",
    "finished": "This campaign was sent. Propose another one under an external_id of its own.",
}


def propose(*, by: Proposer, proposal: Proposal) -> tuple[Campaign, bool]:
    """Store a campaign, or another version of it, for a person to decide on; (the campaign, whether that is new).

    Conflict for another body once the campaign is closed, Invalid naming a field that cannot be used, NotAllowed for
    a token bound to one subject.
    """
    require_may_propose(by)
    sender = check_terms(proposal)
    try:
        return _propose(by, proposal, sender)
    except IntegrityError as error:
        if violated(error) != "campaign_external_id_once":
            raise
        return _propose(by, proposal, sender)  # somebody was first with it


@transaction.atomic
def _propose(by: Proposer, proposal: Proposal, sender: Mailbox) -> tuple[Campaign, bool]:
    digest = digest_of(by, proposal)
    known = campaigns_of(by).filter(external_id=proposal.external_id)
    campaign = known.select_for_update(no_key=True).first()
    if campaign is None:
        return _begin(by, proposal, sender, digest), True
    if known_as := Version.objects.filter(campaign_id=campaign.id, body_digest=digest).first():
        _refuse_replaced(campaign, known_as)
        return campaign, False
    refuse_closed(campaign)
    _refuse_unusable(by, proposal)
    versions.renew(campaign, proposal, by=by, sender=sender, body_digest=digest)
    return campaign, True


def digest_of(by: Proposer, proposal: Proposal) -> str:
    """What tells a repetition of this proposal. Which attempt of a run calls makes none of it another one."""
    ignored = {"run_id": None} if isinstance(by, CallingRun) else {}
    return keyed_digest(canonical(body_of(proposal) | ignored))


def revise(*, by: Actor, campaign_id: UUID, shown: Shown, proposal: Proposal) -> Campaign:
    """The next version of a campaign, by a member, bound to the version that was shown.

    NotFound, NotAllowed, Stale where another version is there by now, Conflict once the campaign is closed, Invalid.
    """
    with transaction.atomic():
        campaign_for(by, campaign_id)
        require_may_propose(by)
        sender = check_terms(proposal)
        digest = keyed_digest(canonical(body_of(proposal) | {"after": shown.digest}))
        campaign = Campaign.objects.select_for_update(no_key=True).get(id=campaign_id)
        if Version.objects.filter(campaign_id=campaign.id, body_digest=digest).exists():
            return campaign  # the second click of a double click
        newest = newest_version(campaign.id)
        if newest.digest != shown.digest:
            raise another_version(newest)
        refuse_closed(campaign)
        _refuse_unusable(by, proposal)
        versions.renew(campaign, proposal, by=by, sender=sender, body_digest=digest)
        return campaign


def _refuse_replaced(campaign: Campaign, version: Version) -> None:
    """Conflict for the body of a version that another one took the place of: to say nothing would be to agree to it."""
    newest = newest_version(campaign.id)
    if newest.number > version.number:
        raise Conflict(
            f"This is version {version.number} of the campaign, and version {newest.number} took its place. To go back"
            " to it, propose it with another purpose, which makes it the next version.",
            code="version_replaced",
            field="external_id",
            extra={"id": str(campaign.id), "version": newest.number, "campaign_status": campaign.status},
        )


def refuse_closed(campaign: Campaign) -> None:
    """Conflict where a campaign takes no other version any more."""
    if said := CLOSED.get(campaign.status):
        raise Conflict(
            said,
            code="external_id_conflict",
            field="external_id",
            extra={"id": str(campaign.id), "campaign_status": campaign.status, "comment": campaign.comment},
        )


def _begin(by: Proposer, proposal: Proposal, sender: Mailbox, digest: str) -> Campaign:
    _refuse_unusable(by, proposal)
    campaign = Campaign.objects.create(
        workspace_id=current_workspace(),
        runtime_id=None if isinstance(by, Actor) else by.runtime_id,
        run_id=proposal.run_id,
        external_id=proposal.external_id,
        agent=_agent(by, proposal),
        name=proposal.name,
        purpose=proposal.purpose,
        send_by=proposal.send_by,
    )
    versions.make(campaign, proposal, number=1, by=by, sender=sender, body_digest=digest)
    return campaign


def _refuse_unusable(by: Proposer, proposal: Proposal) -> None:
    """Invalid for a new version whose time is over, or whose list cannot be used, or not by them."""
    if proposal.send_by is not None:
        now = Workspace.objects.values_list(Now(), flat=True).get()
        refuse_over(proposal, now, clocks_s=0 if isinstance(by, Actor) else CLOCKS_S)
    if proposal.dataset_id is not None:
        filling.usable(_list_of(by, proposal.dataset_id), proposal.where)


def _list_of(by: Proposer, dataset_id: UUID) -> Dataset:
    try:
        if isinstance(by, Actor):
            return dataset_for(by, dataset_id)
        return dataset_for_bearer(by, dataset_id)
    except NotFound:
        raise Invalid("dataset_id", "There is no such list, or none that you may use.") from None


def _agent(by: Proposer, proposal: Proposal) -> str:
    """Whose proposal it is: the agent of the run that makes it, else the runtime's name, or the member's."""
    if isinstance(by, Actor):
        return by.name
    if isinstance(by, CallingRun):
        return by.agent
    if proposal.run_id is None:
        return Runtime.objects.values_list("name", flat=True).get(id=by.runtime_id)
    try:
        return run_for_bearer(by, proposal.run_id).agent
    except NotFound:
        raise Invalid("run_id", "There is no such run, or none that this token may see.") from None
