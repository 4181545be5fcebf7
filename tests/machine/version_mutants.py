"""As in mutants.py, one safeguard taken out: those that keep versions apart, and what was sealed as it is."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from approvals.db import prepared
from approvals.models import Campaign, Version
from approvals.rules.proposals import Proposal
from approvals.selectors.campaign_counts import newest_version
from approvals.services import overtaken, rounds, sending, versions
from tests.machine.machine import WORDS, Machine
from tests.machine.mutants import Lab, Mutant
from tests.machine.scene import PEOPLE


class OneVersionAfterAnother(Machine):
    """The same people are proposed to anew, approved, and written to; the server refuses some and has some wait."""

    @rule(data=st.data())
    def something_happens(self, data: Any) -> None:
        """One step of it; never a worker who dies."""
        [campaign] = self.seen.campaigns.values()
        match data.draw(st.sampled_from(["a version", "an approval", "a sending", "a sending"])):
            case "a version":
                self.proposes(1, 2, words=data.draw(st.sampled_from(WORDS)))
            case "an approval":
                who = data.draw(st.sampled_from(PEOPLE))
                self.decides_about_campaign(campaign, who, False, "approve")
            case _ if self.seen.jobs:
                meets = data.draw(
                    st.lists(st.sampled_from(["refused", "busy", "taken"]), min_size=1, max_size=3)
                )
                self.works(self.a_job(0), 0, "finish", meets)


def knows_nobody_of_an_earlier_version(lab: Lab) -> None:
    """Each version tells the same address by another key, so whoever has one of them is taken for a stranger."""
    audience = versions._audience

    def keyed(version: Version, proposal: Proposal) -> tuple[Any, dict[int, str]]:
        rows, keys = audience(version, proposal)
        return rows, {position: f"{version.number} {key}" for position, key in keys.items()}

    lab.patch.setattr(versions, "_audience", keyed)


def goes_on_with_the_version_it_began(lab: Lab) -> None:
    """Another version takes the place of one that was approved, and that one goes out all the same."""
    renew = versions.renew

    def beside(campaign: Campaign, proposal: Proposal, **given: Any) -> Version:
        if campaign.status not in ("approved", "sending"):
            return renew(campaign, proposal, **given)
        return versions.make(campaign, proposal, number=newest_version(campaign.id).number + 1, **given)

    lab.patch.setattr(versions, "renew", beside)
    lab.patch.setattr(sending, "_is_replaced", lambda version: False)
    turn = rounds._TURN
    anything_goes = prepared.Statement("")
    anything_goes.names, anything_goes.sql = (
        turn.names,
        turn.sql.replace(b"n.number >", b"n.number < 0 and n.number >"),
    )
    assert anything_goes.sql != turn.sql
    lab.patch.setattr(rounds, "_TURN", anything_goes)
    lab.owner.execute("drop trigger version_of_pending on approvals_version")


def loses_a_recipient(lab: Lab) -> None:
    """Of the second recipient nobody hears again."""
    lab.owner.execute(
        "create function lost() returns trigger language plpgsql as"
        " $$ begin if new.position = 2 then return null; end if; return new; end $$"
    )
    lab.owner.execute(
        "create trigger lost before insert on approvals_delivery for each row execute function lost()"
    )


def rewrites_what_was_sealed(lab: Lab) -> None:
    """What the version before said is written anew by the one that comes after it."""
    renew = versions.renew

    def over(campaign: Campaign, proposal: Proposal, **given: Any) -> Version:
        Version.objects.filter(campaign_id=campaign.id).update(subject_line=proposal.subject)
        return renew(campaign, proposal, **given)

    lab.patch.setattr(versions, "renew", over)
    lab.owner.execute("drop trigger version_sealed on approvals_version")
    lab.owner.execute("grant update on approvals_version to secondlook_app")


def asks_about_whoever_was_written_to_since(lab: Lab) -> None:
    """A failure stays somebody's to settle, though a newer version wrote to the same person."""
    lab.patch.setattr(overtaken, "settle", lambda campaign_id: None)


VERSION_MUTANTS = (
    Mutant(
        asks_about_whoever_was_written_to_since,
        ("nobody_settles_what_a_newer_version_settled",),
        machine=OneVersionAfterAnother,
    ),
    Mutant(knows_nobody_of_an_earlier_version, ("nobody_gets_two_versions",)),
    Mutant(goes_on_with_the_version_it_began, ("only_the_newest_version_goes_out",)),
    Mutant(loses_a_recipient, ("the_ledger_adds_up",)),
    Mutant(rewrites_what_was_sealed, ("the_ledger_adds_up",)),
)
