"""Filling what helps to decide: findings in the message that is shown, who is reached again, and what changed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.html import format_html
from django.utils.safestring import SafeString

from approvals.rules import mail_html
from approvals.rules.addresses import Mailbox, check_mailbox
from approvals.rules.attachments import Attached
from approvals.rules.content import Content
from approvals.rules.letters import Finding, LinkTarget, look_at
from approvals.rules.links import links_in
from approvals.rules.messages import Envelope
from approvals.rules.words_changed import Stretch, changed
from approvals.selectors.campaigns import CampaignFacts
from approvals.selectors.compared import Earlier, Lists
from approvals.selectors.contacts import Contacts
from approvals.services.rounds import NOT_ALLOWED
from dashboard.presenters.ages import when
from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import Link
from dashboard.presenters.places import Places
from dashboard.presenters.review import (
    Again,
    Change,
    Changed,
    Difference,
    FindingLine,
    LinkLine,
    Looks,
    Part,
    Review,
)
from dashboard.presenters.text import clip, count, listed, plain, plural, reveal, reveal_line, summary_line

_GRADES = {
    "danger": Chip("Look closely", "danger"),
    "warn": Chip("Worth a look", "warn"),
    "info": Chip("To know", "quiet"),
}
_QUIET = "Nothing in this message stands out: no hidden text, no misleading link, no deceiving character."
_AROUND = 12  # words that are shown beside a change
_LONGEST_PART = 3_000  # characters of a stretch that went or came
_MOST_PARTS = 200  # stretches of one text
_LINKS_OPEN = 5  # links that are shown unfolded
DECIDED_AS = {
    "approve": "approved",
    "return_campaign": "returned",
    "reject": "rejected",
    "cancel_send": "taken back",
    "stop": "stopped",
}
_NO_OTHER = "No campaign of this agent that is anything like this one was approved before."
_TOO_LONG = "With so many recipients this takes a while, so it is done when you ask for it."


@dataclass(frozen=True, slots=True)
class Compared:
    """One earlier version, and how the recipients differ from its."""

    earlier: Earlier
    lists: Lists


def looks_of(
    envelope: Envelope, size: int, attached: Sequence[Attached] = (), *, warned: bool = False
) -> Looks:
    """What stands out in this one message of `size` bytes and in the files that go along with it.

    `warned`: something else is said about it already, beside which "nothing stands out" would be read as all clear.
    """
    looked = look_at(envelope, size, attached)
    doubtful = any(target.tone != "info" for target in looked.targets)
    number = len(looked.targets) + looked.more
    return Looks(
        findings=tuple(_finding(finding) for finding in looked.findings),
        links=tuple(_link(target) for target in looked.targets),
        links_title=f"It leads to {plural(number, 'address', 'addresses')}" if number else "",
        size=size_of(size),
        quiet="" if looked.findings or doubtful or warned else _QUIET,
        more=f"{count(looked.more)} more are not listed." if looked.more else "",
        open=doubtful or number <= _LINKS_OPEN,
    )


def _finding(finding: Finding) -> FindingLine:
    return FindingLine(
        _GRADES[finding.tone], finding.text, tuple(summary_line(words, 200) for words in finding.words)
    )


def _link(target: LinkTarget) -> LinkLine:
    times = f", {count(target.number)} times" if target.number > 1 else ""
    return LinkLine(
        url=summary_line(target.url, 300) or reveal_line("(empty)"),
        words=tuple(summary_line(words, 120) for words in target.words),
        where=f"in the {' and the '.join(target.where)}{times}",
        doubts=tuple(
            FindingLine(
                _GRADES[doubt.tone], doubt.text, (summary_line(doubt.words, 120),) if doubt.words else ()
            )
            for doubt in target.doubts
        ),
    )


def size_of(size: int) -> str:
    """A number of bytes the way people read it."""
    return f"{size / 1000:,.0f} kB" if size >= 10_000 else f"{count(size)} bytes"


def review_of(
    facts: CampaignFacts,
    *,
    contacts: Contacts | None,
    linked: tuple[int, Sequence[str]],
    compared: Sequence[Compared],
    senders: Sequence[str],
    places: Places,
    ask: str,
    now: datetime,
    allowed: Sequence[str] = (),
) -> Review:
    """All of it. `contacts` is None where nobody asked; `senders` are those of approved campaigns, newest first.

    `ask` is the address that asks for what was left out because of the length of the list; empty where nothing was.
    `allowed` are the domains that are written to here; none where all are.
    """
    return Review(
        everybody=Link("See every recipient", places.recipients(facts.id, version=facts.old)),
        only=NOT_ALLOWED.format(domains=", ".join(allowed)) if allowed else "",
        again=_again(facts, contacts, linked, places) if contacts else (),
        changed=None if ask or contacts is None else _changed(facts, compared, senders, places, now),
        ask=Link("Compare it now", ask) if ask else None,
        ask_why=_TOO_LONG if ask else "",
    )


def _again(
    facts: CampaignFacts, contacts: Contacts, linked: tuple[int, Sequence[str]], places: Places
) -> tuple[Again, ...]:
    said = []
    show = Link("Show them", places.recipients(facts.id, "show=contacted"))
    if contacts.written:
        were = "1 of them was" if contacts.written == 1 else f"{count(contacts.written)} of them were"
        text = f"{were} written to by this agent before:"
        said.append(Again(text, _names(contacts.first_written, contacts.written), show))
    if contacts.waiting:
        wait = "1 of them waits" if contacts.waiting == 1 else f"{count(contacts.waiting)} of them wait"
        text = f"{wait} in another campaign that has not gone out yet:"
        said.append(
            Again(
                text,
                _names(contacts.first_waiting, contacts.waiting),
                show,
                campaigns=tuple(
                    Link(summary_line(one.name, 60), places.campaign(one.id)) for one in contacts.elsewhere
                ),
                further=_more(contacts.campaigns - len(contacts.elsewhere)),
            )
        )
    number, first = linked
    if number:
        bring = "1 of them brings" if number == 1 else f"{count(number)} of them bring"
        text = f"{bring} a link along in a value of their own:"
        said.append(
            Again(text, _names(first, number), replace(show, url=places.recipients(facts.id, "show=linked")))
        )
    return tuple(said)


def _more(number: int) -> str:
    return f"and {count(number)} more" if number > 0 else ""


def _names(first: Sequence[str], number: int) -> SafeString:
    names = reveal_line(", ".join(name[:100] for name in first))
    rest = number - len(first)
    return format_html("{} and {} more", names, count(rest)) if rest > 0 else names


def _changed(
    facts: CampaignFacts,
    compared: Sequence[Compared],
    senders: Sequence[str],
    places: Places,
    now: datetime,
) -> Changed:
    return Changed(
        changes=tuple(_change(facts, one, places, now) for one in compared),
        warnings=_of_senders(facts.content, senders),
        none="" if compared else _NO_OTHER,
    )


def _of_senders(content: Content, senders: Sequence[str]) -> tuple[FindingLine, ...]:
    before = dict.fromkeys(domain for sender in senders if (domain := _domain(sender)))
    mine = _domain(content.from_address)
    if not before or mine in before:
        return ()
    text = "This agent's approved campaigns came from another domain so far."
    return (
        FindingLine(
            _GRADES["warn"],
            text,
            (reveal_line(f"now {mine}"), reveal_line(f"before {listed(list(before), 3)}")),
        ),
    )


def _domain(sender: str) -> str:
    mailbox = check_mailbox(sender)
    return mailbox.address.domain if isinstance(mailbox, Mailbox) else ""


def _change(facts: CampaignFacts, one: Compared, places: Places, now: datetime) -> Change:
    earlier, lists = one.earlier, one.lists
    old, new = earlier.content, facts.content
    pairs = [
        ("Sender", old.from_address, new.from_address),
        ("Reply-To", old.reply_to, new.reply_to),
        ("Subject", old.subject, new.subject),
        ("Text", old.text, new.text),
    ]
    differences = [Difference(name, _parts(changed(a, b))) for name, a, b in pairs if a != b]
    same = [name for name, a, b in pairs if a == b and b]
    if old.html == new.html:
        same += ["HTML"] if new.html else []
    else:
        differences.append(_html_changed(old.html, new.html))
    if files := _files_changed(old, new):
        differences.append(files)
    elif new.attached:
        same.append("Attached files")
    if links := _links_changed(old, new):
        differences.append(links)
    kept = facts.recipients - lists.came
    return Change(
        about=_about(earlier, now),
        url=places.campaign(earlier.campaign_id, version=earlier.version if earlier.same_campaign else None),
        differences=tuple(differences),
        same=f"The same as there: {listed(same, 9)}." if same else "",
        people=(f"{plural(kept, 'recipient is', 'recipients are')} in both lists.",),
        names=tuple(
            (f"{plural(number, 'recipient', 'recipients')} {what}:", _names(first, number))
            for number, first, what in (
                (lists.came, lists.first_came, "only here"),
                (lists.gone, lists.first_gone, "only there"),
            )
            if number
        ),
    )


def _about(earlier: Earlier, now: datetime) -> SafeString:
    what = DECIDED_AS.get(earlier.kind, "decided on")
    how = f"{what} by {plain(earlier.by)}" if earlier.by else "which nobody decided on"
    at = str(when(earlier.at, now)) if earlier.at else ""
    if earlier.same_campaign:
        return format_html("version {}, {} {}", earlier.version, how, at)
    return format_html("“{}”, {} {}", summary_line(earlier.name, 120), how, at)


def _html_changed(old: str, new: str) -> Difference:
    if not old or not new:
        return Difference("HTML", note="It has an HTML part now." if new else "It has no HTML part any more.")
    parts = changed(mail_html.read(old).text, mail_html.read(new).text)
    if all(part.kind == "same" for part in parts):
        return Difference("HTML", note="Its words are the same; something else in its code is not.")
    return Difference("HTML, as it reads", _parts(parts))


def _links_changed(old: Content, new: Content) -> Difference | None:
    before, after = _links(old), _links(new)
    parts = [
        *(Part("gone", format_html("{}\n", summary_line(url, 200))) for url in before if url not in after),
        *(Part("came", format_html("{}\n", summary_line(url, 200))) for url in after if url not in before),
    ]
    return Difference("Links", tuple(parts[:_MOST_PARTS])) if parts else None


def _files_changed(old: Content, new: Content) -> Difference | None:
    """A file of the same name with other bytes went and came: its SHA-256 says so."""
    before, after = [_file(one) for one in old.attached], [_file(one) for one in new.attached]
    if before == after:
        return None
    parts = [
        *(Part("gone", format_html("{}\n", reveal_line(file))) for file in before if file not in after),
        *(Part("came", format_html("{}\n", reveal_line(file))) for file in after if file not in before),
    ]
    return Difference("Attached files", tuple(parts), "" if parts else "They come in another order.")


def _file(one: Attached) -> str:
    return f"{one.filename} ({one.content_type}, {size_of(one.size)}, SHA-256 {one.sha256[:12]}…)"


def _links(content: Content) -> dict[str, None]:
    seen = mail_html.read(content.html)
    return dict.fromkeys([*(link.url for link in seen.links), *links_in(content.text[: mail_html.MOST])])


def _parts(stretches: Sequence[Stretch]) -> tuple[Part, ...]:
    shown = [
        Part(one.kind, reveal(_shortened(one, number, len(stretches))))
        for number, one in enumerate(stretches[:_MOST_PARTS])
    ]
    if len(stretches) > _MOST_PARTS:
        shown.append(Part("same", reveal_line(f"… and {len(stretches) - _MOST_PARTS} more places")))
    return tuple(shown)


def _shortened(stretch: Stretch, number: int, of: int) -> str:
    """What stayed is shown as far as it stands beside a change."""
    if stretch.kind != "same":
        return clip(stretch.text, _LONGEST_PART)[0]
    words = stretch.text.split(" ")
    first, last = number == 0, number == of - 1
    if len(words) <= 2 * _AROUND + 3:
        return stretch.text
    before = [] if first and not last else words[:_AROUND]
    behind = [] if last else words[-_AROUND:]
    return " ".join([*before, "…", *behind])
