"""What must hold after any sending, however it was disturbed: the three invariants of the cases about campaigns."""

from collections import Counter
from collections.abc import Collection, Iterable

from approvals.models import Campaign, Delivery
from tests.servers.smtp import SmtpSink


def assert_accounted_for(sink: SmtpSink, *, sent_again: Collection[str] = ()) -> Counter[str]:
    """Within the workspace: the states of everybody, once it is sure that ledger and server agree.

    Nobody has two copies but whom a person sent to again (addresses). What the server has is sent, in doubt or under
    way. The states add up to those who were approved, and nobody is left of a campaign that is over.
    """
    deliveries = list(Delivery.objects.all())
    accepted = Counter(one.message_id for one in sink.accepted)
    _nobody_twice(deliveries, accepted, sent_again)
    there = {"sent", "in_doubt", "attempting"}
    unknown = [one.address for one in deliveries if accepted[one.message_id] and one.state not in there]
    assert not unknown, f"the server has messages of which the ledger knows nothing: {unknown}"
    lost = [one.address for one in deliveries if one.state == "sent" and not accepted[one.message_id]]
    assert not lost, f"sent, and the server has none: {lost}"
    assert set(accepted) <= {one.message_id for one in deliveries}
    for campaign in Campaign.objects.filter(status="finished"):
        open_ones = Delivery.objects.filter(campaign=campaign, state__in=["planned", "attempting"])
        assert not open_ones.exists(), f"{campaign.name} is finished, and somebody is left"
    return Counter(one.state for one in deliveries)


def _nobody_twice(
    deliveries: Iterable[Delivery], accepted: Counter[str], sent_again: Collection[str]
) -> None:
    copies: Counter[tuple[object, str]] = Counter()
    for one in deliveries:  # of whichever version of the campaign
        copies[one.campaign_id, one.dedupe_key] += accepted[one.message_id]
    again = {address.lower() for address in sent_again}
    twice = [address for (_, address), number in copies.items() if number > 1 and address not in again]
    assert not twice, f"two copies: {twice}"
