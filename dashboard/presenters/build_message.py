"""Filling the message as one recipient gets it: made by the same rules as what the worker sends."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.urls import reverse

from approvals.exceptions import Invalid
from approvals.rules.attachments import Attached
from approvals.rules.content import Content, envelope_for
from approvals.rules.decisions import ERASED
from approvals.rules.messages import Envelope, build, leave_out
from approvals.selectors.campaigns import CampaignFacts, Recipient
from approvals.services.suppressions import link_for
from dashboard.forms import campaigns as form
from dashboard.presenters import chips
from dashboard.presenters.build_review import looks_of, size_of
from dashboard.presenters.campaigns import FileLine, Header, Picker, Preview, Raw
from dashboard.presenters.parts import Choice
from dashboard.presenters.places import Places
from dashboard.presenters.text import clip, count, listed, plain, plural, reveal, reveal_line

NOT_IN_THE_LIST = "No message goes to this address. Look for it among the excluded below."
_LEFT_OUT = "The bytes of the attached files are left out here; the source to download has them."
_DATE = "Date is set when it is sent; everything else goes out as it stands here, byte for byte."


@dataclass(frozen=True, slots=True)
class Made:
    """One message. `raw` is empty where it cannot be written, and `problem` says why."""

    envelope: Envelope
    missing: tuple[str, ...]
    raw: bytes
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The recipient whose message is shown (None: there is nobody), and the first of all `addresses` to choose from.

    `found` is False where the one that was asked for is none of this campaign.
    """

    recipient: Recipient | None
    found: bool
    addresses: Sequence[tuple[UUID, str]]


def without_files(content: Content) -> tuple[Content, int]:
    """(the content with a note in place of each attached file, how many bytes that takes off each message)."""
    parts = [leave_out(one) for one in content.attached]
    return replace(content, enclosed=tuple(part for part, _ in parts)), sum(less for _, less in parts)


def message_to(recipient: Recipient, content: Content, now: datetime) -> Made:
    """What this recipient gets; dated as it was sent, or now where nothing has gone out yet.

    The content comes with its files (`selectors.attachments.with_files`), or `without_files`.
    Of one who was erased the message cannot be told any more: `problem` says so, and the text is the unmerged one.
    """
    envelope, missing = envelope_for(
        content,
        delivery_id=str(recipient.delivery_id),
        to=recipient.address,
        variables=recipient.variables,
        message_id=recipient.message_id,
        date=(recipient.attempted_at or now).replace(microsecond=0),
        unsubscribe=link_for(recipient.delivery_id, settings.BASE_URL),
    )
    if recipient.erased:
        return Made(envelope, (), b"", ERASED)
    try:
        return Made(envelope, tuple(sorted(missing)), build(envelope))
    except Invalid as invalid:
        return Made(envelope, tuple(sorted(missing)), b"", invalid.text)


def preview_of(
    facts: CampaignFacts,
    chosen: Chosen,
    *,
    places: Places,
    asked: form.Asked,
    now: datetime,
    pushes: bool = True,
) -> Preview:
    """The message to the chosen recipient, and how to choose another. `pushes` is that of the `Picker`."""
    picker = replace(_picker(facts, chosen, places, asked), pushes=pushes)
    recipient = chosen.recipient
    if recipient is None:
        return _unaddressed(facts, picker, places)
    content, left_out = without_files(facts.content)
    made = message_to(recipient, content, now)
    envelope, note = made.envelope, _note(made)
    headers = (
        ("From", envelope.from_address),
        ("Reply-To", envelope.reply_to or ""),
        ("To", envelope.to),
        ("Subject", envelope.subject),
        ("Message-ID", envelope.message_id or ""),
    )
    at = [places.slug, facts.id, recipient.delivery_id]
    return Preview(
        picker=picker,
        headers=tuple(Header(name, reveal_line(value)) for name, value in headers if value),
        text=reveal(clip(envelope.text)[0]),
        text_note=clip(envelope.text)[1],
        html_url=reverse("campaign_message", args=at) if envelope.html and not recipient.erased else "",
        note=_erased(recipient) if recipient.erased else note,
        looks=(
            None
            if recipient.erased
            else looks_of(envelope, len(made.raw) + left_out, content.attached, warned=bool(note))
        ),
        raw=_raw(made, recipient, reverse("campaign_source", args=at), content) if made.raw else None,
        files=_files(facts, places),
        files_title=_files_title(content.attached),
    )


def _files(facts: CampaignFacts, places: Places) -> tuple[FileLine, ...]:
    return tuple(
        FileLine(
            name=reveal_line(one.filename),
            content_type=one.content_type,
            size=size_of(one.size),
            sha256=f"{one.sha256[:12]}…",
            url=reverse("campaign_attachment", args=[places.slug, facts.id, one.id]),
        )
        for one in facts.content.attached
    )


def _files_title(attached: Sequence[Attached]) -> str:
    if not attached:
        return ""
    together = f", {size_of(sum(one.size for one in attached))} together" if len(attached) > 1 else ""
    return f"{plural(len(attached), 'attached file', 'attached files')}{together}"


def _raw(made: Made, recipient: Recipient, url: str, content: Content) -> Raw:
    shown, clipped = clip(made.raw.decode("ascii"))
    files = _LEFT_OUT if content.attached else ""
    date = "" if recipient.attempted_at else _DATE
    return Raw(text=reveal(shown), url=url, note=" ".join(filter(None, [clipped, files, date])))


def _erased(recipient: Recipient) -> str:
    went = recipient.state in ("sent", "in_doubt", "attempting", "failed")
    tells = "What went out to them" if went else "What they would have got"
    return f"{ERASED} {tells} cannot be shown; this is the text as it was written."


def _note(made: Made) -> str:
    said = []
    if made.missing:
        names = listed([plain(name) for name in made.missing], 5)
        said.append(f"Nothing is known for {names}: it stays in the message just as it was written.")
    if made.problem:
        said.append(f"This message cannot be written, so it would fail: {plain(made.problem)}")
    return " ".join(said)


def _unaddressed(facts: CampaignFacts, picker: Picker, places: Places) -> Preview:
    content = facts.content
    headers = (("From", content.from_address), ("Reply-To", content.reply_to), ("Subject", content.subject))
    return Preview(
        picker=picker,
        headers=tuple(Header(name, reveal_line(value)) for name, value in headers if value),
        text=reveal(clip(content.text)[0]),
        text_note=clip(content.text)[1],
        note="Nobody in the list can be reached. This is the text as it was written.",
        files=_files(facts, places),
        files_title=_files_title(content.attached),
    )


def _picker(facts: CampaignFacts, chosen: Chosen, places: Places, asked: form.Asked) -> Picker:
    def url(delivery_id: UUID | None) -> str:
        if delivery_id is None:
            return ""
        return places.campaign(facts.id, form.address(asked, to=str(delivery_id)), facts.old)

    here = places.campaign(facts.id, version=facts.old)
    recipient = chosen.recipient
    if recipient is None:
        return Picker(action=here, chosen="", place="")
    place = f"{count(recipient.number)} of {count(facts.recipients)}"
    if facts.old or facts.status not in ("pending", "returned", "rejected"):
        place += f", {chips.delivery_state(recipient.state).label.lower()}"
    typed = asked.to if not chosen.found and asked.delivery_id is None else ""
    return Picker(
        action=here,
        chosen=typed or recipient.address,
        place=place,
        choices=tuple(
            Choice(str(delivery_id), plain(address), delivery_id == recipient.delivery_id)
            for delivery_id, address in chosen.addresses
            if len(chosen.addresses) == facts.recipients
        ),
        previous_url=url(recipient.previous_id),
        next_url=url(recipient.next_id),
        error=asked.note or ("" if chosen.found else NOT_IN_THE_LIST),
        kept=(("back", asked.back),) if asked.back else (),
    )
