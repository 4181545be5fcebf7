"""Filling the list of everybody in a campaign's list: what became of each, and why."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from approvals.rules.decisions import ERASED
from approvals.selectors.campaigns import CampaignFacts
from approvals.selectors.contacts import Contact
from approvals.selectors.recipients import Row
from dashboard.forms import recipients as form
from dashboard.presenters import chips
from dashboard.presenters.ages import absolute, when
from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import Choice, DeliveryLine, Empty, Link
from dashboard.presenters.places import Places
from dashboard.presenters.review import RecipientLine, RecipientsPage
from dashboard.presenters.text import count, plain, reveal_line, summary_line

_LEFT_OUT = {
    "duplicate": Chip("Duplicate"),
    "suppressed": Chip("Not to be written to", "warn"),
    "refused": Chip("Cannot be addressed", "warn"),
    "already_sent": Chip("Reached before"),
}
_SKIPPED = "Not sent: the campaign was stopped, or the recipient erased, before their turn came."
_ERASED_BUT_FOR_THE_ADDRESS = (
    "Their values were erased; the address stays, since this message was sent or tried."
)


def recipients_page(
    facts: CampaignFacts,
    rows: tuple[Sequence[Row], bool],
    contacts: Mapping[UUID, Contact],
    *,
    asked: form.Asked,
    places: Places,
    may_trace: bool,
    now: datetime,
) -> RecipientsPage:
    """One page of the list. `may_trace`: whether the reader may ask who allowed a message."""
    found, more = rows
    here = places.recipients(facts.id, version=facts.old)
    of_version = f", version {count(facts.version)}" if facts.old else ""
    up = f"Version {count(facts.version)}" if facts.old else "The campaign"

    def asking(**changes: str | int) -> str:
        return places.recipients(facts.id, form.address(asked, **changes), facts.old)

    return RecipientsPage(
        title=f"Recipients of {plain(facts.name[:150])}{of_version}",
        heading=summary_line(f"{facts.name[:180]}{of_version}", 200),
        campaign=Link(up, places.campaign(facts.id, version=facts.old)),
        action=here,
        shows=(
            Choice("", "Everybody", not asked.show),
            *(Choice(name, words, asked.show == name) for name, words in form.SHOW_NAMES.items()),
        ),
        text=asked.text,
        rows=tuple(
            _line(
                row,
                contacts.get(row.delivery_id) if row.delivery_id else None,
                see_url=(
                    places.campaign(facts.id, f"to={row.delivery_id}", facts.old) if row.delivery_id else ""
                ),
                authority_url=(
                    places.authority(str(row.delivery_id)) if row.delivery_id and row.at and may_trace else ""
                ),
                now=now,
            )
            for row in found
        ),
        export=Link(
            "Export these as CSV", places.recipients_csv(facts.id, form.address(asked, after=0), facts.old)
        ),
        error=asked.note,
        empty=None if found else _empty(asked, here),
        more_url=asking(after=found[-1].position) if more else "",
        first_url=asking(after=0) if asked.after else "",
    )


def _line(
    row: Row, contact: Contact | None, *, see_url: str, authority_url: str, now: datetime
) -> RecipientLine:
    said = row.reason or row.answer or (_SKIPPED if row.state == "skipped" else "")
    if row.erased and ERASED not in said:
        said = f"{said} {_ERASED_BUT_FOR_THE_ADDRESS if row.address else ERASED}".strip()
    if row.attempts > 1:
        said = f"{said} ({count(row.attempts)} attempts)".strip()
    return RecipientLine(
        row=f"row {count(row.position)}",
        line=DeliveryLine(
            address=reveal_line(row.address or row.given or ("(erased)" if row.erased else "(empty)")),
            state=_LEFT_OUT.get(row.state) or chips.delivery_state(row.state),
            at=when(row.at, now) if row.at else None,
            note=summary_line(said, 400),
            message_id=reveal_line(row.message_id if row.at else ""),
            authority_url=authority_url,
        ),
        see_url=see_url,
        contact=_contact(contact),
    )


def _contact(contact: Contact | None) -> str:
    if contact is None:
        return ""
    said = []
    if contact.written_at:
        said.append(f"This agent wrote to them before, last on {absolute(contact.written_at)}.")
    if contact.waits:
        said.append("They wait in another campaign that has not gone out yet.")
    return " ".join(said)


def _empty(asked: form.Asked, here: str) -> Empty:
    if asked.show or asked.text or asked.after:
        return Empty(
            "Nobody like that", "Nobody in this list fits what you asked for.", Link("Show everybody", here)
        )
    return Empty("Nobody", "This campaign has no recipients.")
