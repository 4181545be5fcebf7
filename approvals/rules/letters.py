"""What deserves a second look in the message that one recipient gets: findings in plain sentences, and every link.

A finding forbids nothing. Whoever approves sees it, and decides.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from approvals.rules import mail_html
from approvals.rules.addresses import Mailbox, check_mailbox
from approvals.rules.attachments import Attached, doubts_about
from approvals.rules.links import Doubt, Target, Tone, doubt_of_words, links_in, target_of
from approvals.rules.looks import mixed, scripts, unseen
from approvals.rules.mail_html import Seen
from approvals.rules.messages import Envelope
from approvals.rules.words_changed import alike

CLIPPED_AT = 102_000  # bytes of HTML behind which Gmail cuts a message off
LARGE = 500_000  # bytes of a whole message
MOST_TARGETS = 200  # distinct link targets that are listed
_TEXT_LOOKED_AT = 1_000_000  # characters
_DEEP = 500  # open elements; mail programs give up long before
_WORDS_KEPT = 3  # different words of links to one target
_ADDRESS = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:[\w-]+\.)+(?:com|net|org|info|gov|edu|example)\b", re.IGNORECASE
)
_UNSUBSCRIBE = re.compile(
    r"unsubscri|opt[ -]?out|abmeld|abbestell|austragen|d[ée]sinscri|d[ée]sabonn|darse de baja|cancelar (?:la )?suscrip"
    r"|disiscri|cancella(?:re)? (?:la )?(?:tua )?iscrizione|uitschrij|afmeld|avregistrer|avprenumer|meld av|afmeld"
    r"|odhl[áa]si|wypisz|zrezygnuj|отпис|відпис|配信停止|退订|수신거부|no longer wish|stop receiving",
    re.IGNORECASE,
)
_TONES: tuple[Tone, ...] = ("danger", "warn", "info")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at: a sentence of our own, and the words of the message that it is about."""

    tone: Tone
    code: str
    text: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """One distinct address that the message leads to, what its links read, and what is doubtful about them."""

    url: str
    host: str
    words: tuple[str, ...]
    where: tuple[str, ...]
    number: int
    doubts: tuple[Doubt, ...]

    @property
    def tone(self) -> Tone:
        """The gravest of its doubts; info where there are none."""
        return min((doubt.tone for doubt in self.doubts), key=_TONES.index, default="info")


@dataclass(frozen=True, slots=True)
class Looked:
    """The findings, gravest first; link targets, doubtful first (`more` of them are not listed); the size in bytes."""

    findings: tuple[Finding, ...]
    targets: tuple[LinkTarget, ...]
    more: int
    size: int


def look_at(envelope: Envelope, size: int, attached: Sequence[Attached] = ()) -> Looked:
    """Everything that can be told from one merged message of `size` bytes alone; in bounded time, whatever it holds.

    `attached` are the files that the size counts in.
    """
    html = envelope.html or ""
    seen = mail_html.read(html)
    targets = _targets(seen, envelope.text)
    found = [
        *_of_sender(envelope),
        *_of_characters(envelope, seen),
        *_of_links(targets),
        *_of_html(seen, html),
        *_of_words(envelope, seen, targets),
        *_of_attachments(attached),
        *_of_size(size, html, attached),
    ]
    found.sort(key=lambda finding: _TONES.index(finding.tone))
    targets.sort(key=lambda target: _TONES.index(target.tone))
    return Looked(tuple(found), tuple(targets[:MOST_TARGETS]), max(0, len(targets) - MOST_TARGETS), size)


def _of_sender(envelope: Envelope) -> Iterator[Finding]:
    sender, answers = check_mailbox(envelope.from_address), check_mailbox(envelope.reply_to or "")
    if not isinstance(sender, Mailbox):
        return
    for written in _ADDRESS.findall(sender.name[:500]):
        named = written.rpartition("@")[2].lower()
        if not _of_one_house(named, sender.address.domain):
            text = "The sender's name shows another address than the one it comes from."
            yield Finding("danger", "name_is_address", text, (envelope.from_address,))
            break
    if isinstance(answers, Mailbox) and not _of_one_house(answers.address.domain, sender.address.domain):
        text = "Answers go to another domain than the sender's."
        yield Finding("warn", "other_reply_to", text, (sender.address.domain, answers.address.domain))
    if "xn--" in sender.address.domain:
        yield Finding(
            "warn",
            "foreign_sender",
            "The sender's domain has letters beyond a to z.",
            (sender.address.domain,),
        )


def _of_one_house(one: str, other: str) -> bool:
    """Whether one domain is the other, a part of it, or a sister of it below a name of three parts."""
    a, b = one.removeprefix("www."), other.removeprefix("www.")
    if a == b or a.endswith(f".{b}") or b.endswith(f".{a}"):
        return True
    above = a.partition(".")[2]
    return above == b.partition(".")[2] and above.count(".") >= 1 and len(above) > 7


def _of_characters(envelope: Envelope, seen: Seen) -> Iterator[Finding]:
    places = (
        ("the sender", f"{envelope.from_address} {envelope.reply_to or ''}"),
        ("the subject", envelope.subject),
        ("the text", envelope.text[:_TEXT_LOOKED_AT]),
        ("the HTML", seen.text),
    )
    for place, text in places:
        hidden = unseen(text)
        if hidden.turning:
            said = f"{_characters(hidden.turning)} in {place} can turn the direction in which it reads."
            natural = scripts(text[:5_000]) & {"ARABIC", "HEBREW", "SYRIAC"}
            yield Finding("info" if natural else "danger", "turning", said)
        if hidden.tags:
            yield Finding(
                "danger", "tags", f"{_characters(hidden.tags)} in {place} can spell a text that nobody sees."
            )
        if hidden.others:
            grave: Tone = "warn" if place in ("the sender", "the subject") or hidden.others < 30 else "info"
            yield Finding(grave, "unseen", f"{_characters(hidden.others)} in {place} cannot be seen.")
        if words := mixed(text):
            said = f"Words in {place} mix letters that look alike but are different ones, or are drawn as pictures."
            yield Finding("danger", "mixed", said, tuple(words))


def _characters(number: int) -> str:
    return "1 character" if number == 1 else f"{number:,} characters"


def _of_links(targets: Sequence[LinkTarget]) -> Iterator[Finding]:
    for tone, words in (("danger", "likely to mislead"), ("warn", "worth a look")):
        number = sum(target.tone == tone for target in targets)
        if number:
            are = "target is" if number == 1 else "targets are"
            text = f"{number:,} link {are} {words}; the list of links says why."
            yield Finding(tone, "links", text)  # type: ignore[arg-type]  # both are tones


def _of_html(seen: Seen, html: str) -> Iterator[Finding]:
    if not html:
        return
    if seen.running or seen.handlers:
        names = tuple(f"<{name}>" for name in sorted(seen.running)) + (("on…=",) if seen.handlers else ())
        text = "It holds what would run a program or open another page inside. Mail programs remove that."
        yield Finding("danger", "runs", text, names)
    if seen.moves_on:
        yield Finding(
            "danger", "moves_on", "It tells the program that shows it to open another page by itself."
        )
    if seen.base:
        text = "It changes where all of its links begin, so that a link may lead elsewhere than it says."
        yield Finding("danger", "base", text, (seen.base,))
    if seen.asking:
        text = "It holds a form or fields to fill in. Whoever fills them in sends that away."
        yield Finding("danger", "form", text, tuple(f"<{name}>" for name in sorted(seen.asking)))
    if seen.hidden:
        number = len(seen.hidden)
        text = f"{number:,} {'stretch' if number == 1 else 'stretches'} of its text cannot be seen where it is shown."
        yield Finding("warn", "hidden", text, tuple(f"“{words[:160]}”" for words in seen.hidden[:3]))
    yield from _of_pictures(seen)
    if seen.deepest > _DEEP:
        text = (
            f"Its elements are nested {seen.deepest:,} deep; many programs will not show it as it is meant."
        )
        yield Finding("warn", "deep", text)
    if seen.left_out:
        text = f"It has so many links or pictures that {seen.left_out:,} of them are not listed here."
        yield Finding("danger", "left_out", text)
    if not seen.whole:
        text = f"It is too long to look through. Only the first {mail_html.MOST:,} characters were looked at."
        yield Finding("danger", "too_long", text)


def _of_pictures(seen: Seen) -> Iterator[Finding]:
    tiny = [image for image in seen.images if image.tiny]
    if tiny:
        number = f"{len(tiny):,} {'picture' if len(tiny) == 1 else 'pictures'}"
        text = f"{number} nobody can see: they tell their server who opened the message and when."
        yield Finding("warn", "tracking", text, _hosts(image.url for image in tiny))
    shown = [image for image in seen.images if not image.tiny]
    if shown:
        number = f"{len(shown):,} {'picture comes' if len(shown) == 1 else 'pictures come'}"
        text = f"{number} from outside. They are not loaded here, and what they show can change after the approval."
        yield Finding("info", "remote", text, _hosts(image.url for image in shown))
    if seen.imports:
        yield Finding("warn", "imports", "Its look is loaded from outside and can change after the approval.")


def _hosts(urls: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(target_of(url).host or url[:100] for url in urls))[:5]


def _of_words(envelope: Envelope, seen: Seen, targets: Sequence[LinkTarget]) -> Iterator[Finding]:
    if not envelope.subject.strip():
        yield Finding("warn", "no_subject", "It has no subject.")
    if not envelope.text.strip():
        yield Finding("warn", "no_text", "Its text part is empty; who reads without HTML sees nothing.")
    elif envelope.html and alike(envelope.text, seen.text) < 0.4:
        text = "Its text and its HTML say different things; a recipient sees one of the two."
        yield Finding("warn", "two_texts", text)
    header = any(name.lower() == "list-unsubscribe" for name in envelope.headers)
    words = f"{envelope.text[:_TEXT_LOOKED_AT]} {seen.text}"
    if not header and not _UNSUBSCRIBE.search(words) and not any(_UNSUBSCRIBE.search(t.url) for t in targets):
        text = "Nothing in it tells a recipient how to get no more of these messages."
        yield Finding("warn", "no_unsubscribe", text)


def _of_attachments(attached: Sequence[Attached]) -> Iterator[Finding]:
    for one in attached:
        for doubt in doubts_about(one):
            yield Finding(doubt.tone, doubt.code, f"An attached file: {doubt.text}", (one.filename,))
        if words := mixed(one.filename):
            said = "The name of an attached file mixes letters that look alike but are different ones."
            yield Finding("danger", "mixed", said, tuple(words))


def _of_size(size: int, html: str, attached: Sequence[Attached]) -> Iterator[Finding]:
    if len(html.encode("utf-8", "replace")) > CLIPPED_AT:
        text = "Its HTML is longer than 102 kB: Gmail cuts it off there, and hides what follows."
        yield Finding("warn", "clipped", text)
    if size > LARGE:
        files = sum(one.size for one in attached) / 1_000_000
        of_it = f" (its files {files:.1f} MB before they are packed)" if attached else ""
        text = f"The message has {size / 1_000_000:.1f} MB{of_it}; mail servers may refuse it."
        yield Finding("warn", "large", text)


def _targets(seen: Seen, text: str) -> list[LinkTarget]:
    found: dict[str, LinkTarget] = {}
    known: dict[str, Target] = {}
    for link in seen.links:
        target = known.setdefault(link.url, target_of(link.url))
        doubts = [*target.doubts]
        if doubt := doubt_of_words(target, link.words):
            doubts.append(doubt)
        if link.hidden or not (link.words.strip() or link.pictured):
            doubts.append(Doubt("warn", "hidden", "The link cannot be seen."))
        words = link.words.strip() or ("(a picture)" if link.pictured else "")
        _add(found, target, words, "HTML", doubts)
    for url in links_in(text[:_TEXT_LOOKED_AT]):
        target = known.setdefault(url, target_of(url))
        _add(found, target, "", "text", target.doubts)
    return list(found.values())


def _add(
    found: dict[str, LinkTarget], target: Target, words: str, where: str, doubts: Sequence[Doubt]
) -> None:
    before = found.get(target.url) or LinkTarget(target.url, target.host, (), (), 0, ())
    said = before.words
    if words and words not in said and len(said) < _WORDS_KEPT:
        said = (*said, words)
    more = tuple(doubt for doubt in doubts if doubt not in before.doubts)
    found[target.url] = LinkTarget(
        target.url,
        target.host,
        said,
        before.where if where in before.where else (*before.where, where),
        before.number + 1,
        (*before.doubts, *more)[:10],
    )
