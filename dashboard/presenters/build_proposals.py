"""Filling the pages on which a member proposes a campaign, or another version of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from approvals.rules.attachments import LONGEST_NAME, MB, MOST, MOST_BYTES, MOST_TOGETHER
from approvals.rules.content import fields_of
from approvals.selectors.campaigns import CampaignFacts
from dashboard.forms.shown import pack
from dashboard.forms.whom import filter_names
from dashboard.presenters.build_datasets import counted
from dashboard.presenters.build_review import size_of
from dashboard.presenters.build_whom import whom_of
from dashboard.presenters.parts import NOTHING, Fact, Link, Trail
from dashboard.presenters.places import Places
from dashboard.presenters.proposals import ChoosePage, Files, FileTick, ReadyList, WritePage
from dashboard.presenters.text import count, plain, plural, reveal, reveal_line, summary_line

if TYPE_CHECKING:
    from approvals.models import Dataset
    from dashboard.forms.attached import Listed

FOUR_EYES = (
    "Nothing is sent by this. It goes to the queue, where somebody else looks at it and approves it: two people see"
    " every campaign before it goes out."
)
_FIELDS_SHOWN = 60
_WHAT_HAPPENS = {
    "pending": "Version {next} takes the place of version {this}, which nobody approved.",
    "returned": "Version {next} takes the place of version {this}, and waits for a decision again.",
    "approved": (
        "The approval of version {this} is void once you propose this, and nothing of it is sent. Version {next} needs"
        " its own approval."
    ),
    "sending": "If you propose this, the sending stops at once. So far {so_far}",
    "paused": "The sending is paused, and does not go on: {so_far}",
    "stopped": "The sending was stopped: {so_far}",
}
_STOPS = {"sending": "Stop the sending and propose"}  # what else the button does
CLOSED = {
    "rejected": "This campaign was rejected, so it gets no other version.",
    "finished": "This campaign was sent, so it gets no other version.",
}


def choose_page(
    *,
    places: Places,
    lists: Sequence[Dataset],
    form: Any,
    limit_mb: int,
    refused: str,
    wrong: str = "",
) -> ChoosePage:
    """The first step: who gets it."""
    return ChoosePage(
        title="New campaign",
        trail=Trail(Link("Queue", places.queue())),
        lists=tuple(
            ReadyList(
                name=summary_line(one.name, 100),
                counted=counted(one),
                write=Link("Write to this list", places.new_campaign(f"list={one.id}")),
            )
            for one in lists
        ),
        more=Link("All lists of recipients", places.datasets()),
        typed=Link("Type a few addresses", places.new_campaign("typed=1")),
        form=form,
        upload_url=places.upload(),
        limit=f"Up to {limit_mb} MB and 1,000,000 rows.",
        refused=refused,
        wrong=wrong,
    )


def files_of(files: Sequence[Listed], sizes: Mapping[str, int], wrong: Sequence[str] = ()) -> Files:
    """The files of a form with their sizes in bytes, by SHA-256, and what is wrong with them."""
    return Files(
        listed=tuple(
            FileTick(
                value=one.value,
                name=summary_line(one.wanted.filename, LONGEST_NAME),
                told=f"{one.wanted.content_type}, {size_of(sizes[one.wanted.sha256])}",
                ticked=one.ticked,
            )
            for one in files
        ),
        limits=f"Up to {MOST} files, {MOST_BYTES // MB} MB each and {MOST_TOGETHER // MB} MB together.",
        wrong=tuple(wrong),
    )


def write_page(
    *,
    places: Places,
    dataset: Dataset | None,
    form: Any,
    files: Files,
    external_id: str,
    shown: str,
    values: Sequence[str] = (),
) -> WritePage:
    """The second step: what they get. Without a list the addresses are typed. `values`: as in `whom_of`."""
    kept = (("external_id", external_id), ("shown", shown))
    trail = Trail(Link("Who gets it", places.new_campaign()))
    if dataset is None:
        return WritePage(
            title="New campaign",
            heading=reveal_line("New campaign"),
            trail=trail,
            form=form,
            files=files,
            action=places.new_campaign("typed=1"),
            button="Propose it",
            kept=kept,
            no_fields=(
                "Addresses that are typed bring no values, so a merge field such as {{ name }} would stay as it is."
                " Import a list to use some."
            ),
            notes=(FOUR_EYES,),
        )
    others = filter_names(dataset)
    return WritePage(
        title=f"New campaign to {plain(dataset.name[:100])}",
        heading=reveal_line("New campaign"),
        trail=trail,
        form=form,
        files=files,
        action=places.new_campaign(f"list={dataset.id}"),
        button="Propose it",
        whom=whom_of(form, url=places.new_campaign(f"list={dataset.id}"), values=values),
        message=tuple(form.message_fields()),
        kept=kept,
        facts=_of_list(dataset, places),
        fields=_merge_fields(others),
        no_fields="" if others else "The list has no column but the addresses, so there are no merge fields.",
        notes=(FOUR_EYES,),
    )


def _of_list(dataset: Dataset, places: Places) -> tuple[Fact, ...]:
    def rows(state: str) -> str:
        return places.dataset(dataset.id, f"state={state}")

    left_out = ("duplicate", "suppressed", "refused")
    return (
        Fact("List", summary_line(dataset.name, 100), places.dataset(dataset.id)),
        Fact("Can be reached", count(dataset.addressable), rows("addressable")),
        *(
            Fact(f"{state.capitalize()}, and why", count(getattr(dataset, state)), rows(state))
            for state in left_out
            if getattr(dataset, state)
        ),
    )


def _merge_fields(names: Sequence[str]) -> tuple[Any, ...]:
    shown = [reveal_line(f"{{{{ {name} }}}}") for name in names[:_FIELDS_SHOWN]]
    if len(names) > _FIELDS_SHOWN:
        shown.append(reveal_line(f"and {len(names) - _FIELDS_SHOWN:,} more"))
    return tuple(shown)


def rest_of(facts: CampaignFacts) -> int:
    """How many of its newest version got nothing yet, as far as is known now."""
    return sum(facts.counts[state] for state in ("planned", "failed", "skipped"))


def version_page(
    facts: CampaignFacts,
    *,
    places: Places,
    form: Any,
    files: Files,
    user_id: str,
    comment: str,
    warning: str = "",
    values: Sequence[str] = (),
) -> WritePage:
    """The form for the version that comes next. `values`: as in `whom_of`."""
    number = facts.version + 1
    closed = CLOSED.get(facts.status, "")
    names = fields_of(facts.content)
    return WritePage(
        title=f"Version {number} of {plain(facts.name[:200])}",
        heading=summary_line(f"Version {number} of {facts.name}", 300),
        trail=Trail(Link(summary_line(facts.name, 60), places.campaign(facts.id))),
        form=form,
        files=files,
        action=places.new_version(facts.id),
        button=f"{_STOPS.get(facts.status, 'Propose')} version {number}",
        whom=whom_of(form, url=places.new_version(facts.id), values=values),
        message=tuple(form.message_fields()),
        kept=(("shown", pack(target=facts.id, user_id=user_id, digest=facts.digest)),),
        fields=_merge_fields(names),
        no_fields="" if names else "There are no merge fields in it so far.",
        notes=(*_what_happens(facts), FOUR_EYES),
        comment=reveal(comment) if facts.status == "returned" and comment else NOTHING,
        warning=warning,
        closed=closed,
        closed_link=Link("New campaign", places.new_campaign()) if closed else None,
    )


def _what_happens(facts: CampaignFacts) -> tuple[str, ...]:
    """What sending the form does to what is there, in plain words."""
    said = _WHAT_HAPPENS.get(facts.status)
    if said is None:
        return ()
    return (said.format(this=facts.version, next=facts.version + 1, so_far=_so_far(facts)),)


def _so_far(facts: CampaignFacts) -> str:
    counts = facts.counts
    got, left = counts["sent"], rest_of(facts)
    parts = [f"{count(got)} {'has' if got == 1 else 'have'} got version {facts.version}"]
    if earlier := counts["already_sent"]:
        parts.append(f"{count(earlier)} an earlier one")
    if doubt := counts["in_doubt"] + counts["attempting"]:
        parts.append(f"{count(doubt)} may have it and {'gets' if doubt == 1 else 'get'} nothing more")
    are, following = "is" if left == 1 else "are", facts.version + 1
    return (
        f"{', '.join(parts)}; {count(left)} {are} left for version {following}, which needs an approval"
        " of its own."
    )


def proposed_text(version: int, to_send: int) -> str:
    """What is said once it is proposed."""
    first = "Proposed" if version == 1 else f"Version {version} is proposed"
    return f"{first}, to {plural(to_send, 'person', 'people')}. Somebody else has to approve it before it is sent."
