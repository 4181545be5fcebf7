"""The bytes of one e-mail, made from its parts and from nothing else: the same parts, the same bytes.

Message-ID and MIME boundary derive from the delivery's id. Everything leaves as ASCII with CRLF line ends and
lines that no server breaks, and no value can add a header field or a MIME part.
"""

import base64
import binascii
import html as html_text
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from functools import lru_cache
from urllib.parse import quote

from approvals.exceptions import Invalid
from approvals.rules.addresses import Mailbox, Refused, check_address, check_header, check_mailbox
from approvals.rules.attachments import Attached, check_content_type, check_filename
from approvals.rules.digests import sha256_hex

_LINE = 76  # where header lines and encoded bodies are broken
_LONGEST_LINE = 998  # what SMTP carries, RFC 5321
_LONGEST_WORD = 60  # fits beside any header name
_LONGEST_VALUE = 900  # of a header field that may not be encoded
_END = "\r\n"
_CHARSET = "utf-8''"

_SLOT = re.compile(r"\{\{([^{}]*)\}\}")
_DELIVERY_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MESSAGE_ID = re.compile(r"<[!-;=?A-~]+@[a-z0-9.-]+>")
_HEADER_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,50}")
_WORDS = re.compile(rf"[!-~]{{1,{_LONGEST_WORD}}}(?: [!-~]{{1,{_LONGEST_WORD}}})*")
_ATOMS = re.compile(r"[\w!#$%&'*+/=?^`{|}~-]{1,60}(?: [\w!#$%&'*+/=?^`{|}~-]{1,60})*", re.ASCII)
_QUOTABLE = re.compile(rf"[ -~]{{1,{_LONGEST_WORD - 10}}}")
_PLAIN_BODY = re.compile(r"[\t\n -~]*")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9 ()+,=@_.-]{1,60}")  # of a file, safe between quotes

# Set by the parts of an envelope, or able to change who gets the mail or how it reads.
_OWN_HEADERS = re.compile(
    r"(?:date|message-id|from|sender|reply-to|to|cc|bcc|subject|mime-version|return-path|received"
    r"|content-.*|resent-.*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """One message to one recipient, already merged.

    `from_address` and `reply_to` may carry a name; `to` is an address alone. `date` is aware.
    `message_id` is derived where it is None; `headers` are further ASCII header fields by name; `attachments` are
    parts as `enclose` made them, in order.
    """

    delivery_id: str
    from_address: str
    to: str
    subject: str
    text: str
    date: datetime
    reply_to: str | None = None
    html: str | None = None
    message_id: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    attachments: Sequence[str] = ()


def merge(template: str, variables: Mapping[str, object], *, html: bool = False) -> tuple[str, set[str]]:
    """The template with each `{{ name }}` replaced, and the names that had no value, which stay visible.

    Values are str, int, float or bool, put in as they are or, with `html`, escaped; what a value holds is
    never merged again. Raises Invalid for any other value.
    """
    missing: set[str] = set()
    parts = _parts(template)
    if len(parts) == 1:
        return template, missing
    filled: list[str] = []
    written: dict[str, str] = {}  # most names stand more than once
    for place, part in enumerate(parts):
        if place % 2 == 0:
            filled.append(part)
            continue
        name = part.strip()
        if name not in variables:
            missing.add(name)
            filled.append("{{" + part + "}}")
            continue
        if name not in written:
            value = _written(name, variables[name])
            written[name] = html_text.escape(value) if html else value
        filled.append(written[name])
    return "".join(filled), missing


@lru_cache(maxsize=64)  # the same for everybody who gets a campaign
def _parts(template: str) -> tuple[str, ...]:
    """What stands between the slots and, at every odd place, within one."""
    return tuple(_SLOT.split(template))


def _written(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise Invalid(f"vars.{name}", "A variable must be text, a number, true or false.")


def message_id_of(delivery_id: str, from_address: str) -> str:
    """The Message-ID of a delivery, `<id@sender's domain>`; raises Invalid for an unusable sender."""
    return _message_id(delivery_id, _mailbox("from", from_address))


def build(envelope: Envelope) -> bytes:
    """The complete message; raises Invalid naming the field that cannot be written."""
    return (_END.join(_lines(envelope)) + _END).encode("ascii")


def enclose(attached: Attached, data: bytes) -> str:
    """A file as a part of a message: its header fields and its bytes in base64, the same for every recipient.

    Raises Invalid for a name or type that cannot be written.
    """
    packed = base64.encodebytes(data).decode().removesuffix("\n")
    return f"{_head_of(attached)}{packed.replace(chr(10), _END)}"


def leave_out(attached: Attached) -> tuple[str, int]:
    """(the same part with a note in place of its bytes, how many bytes longer the true one is)."""
    packed = 4 * -(-attached.size // 3)
    length = packed + len(_END) * max(0, -(-packed // _LINE) - 1)
    note = f"[{length:,} bytes of base64]"
    return f"{_head_of(attached)}{note}", length - len(note)


def _head_of(attached: Attached) -> str:
    """The header fields of a file's part, and the empty line: its name for old programs too, RFC 2047 and 2231."""
    name = attached.filename
    if reason := check_filename(name):
        raise Invalid("filename", reason)
    if reason := check_content_type(attached.content_type):
        raise Invalid("content_type", reason)
    if _PLAIN_NAME.fullmatch(name):
        named, filed = [f' name="{name}"'], [f' filename="{name}"']
    else:
        words = list(_encoded_words(name))
        named = [f' name="{words[0]}', *(f" {word}" for word in words[1:])]
        named[-1] += '"'
        filed = list(_continued("filename", name))
    lines = [f"Content-Type: {attached.content_type};", *named, "Content-Disposition: attachment;", *filed]
    return _END.join([*lines, "Content-Transfer-Encoding: base64", "", ""])


def _continued(parameter: str, text: str) -> Iterator[str]:
    """The lines of a parameter of any length and script, RFC 2231; no character is cut in two."""
    pieces = [""]
    for character in text:
        written = quote(character, safe="", errors="strict")
        if len(pieces[-1]) + len(written) > _LONGEST_WORD - 10:
            pieces.append("")
        pieces[-1] += written
    for number, piece in enumerate(pieces):
        end = ";" if number < len(pieces) - 1 else ""
        yield f" {parameter}*{number}*={'' if number else _CHARSET}{piece}{end}"


def _lines(envelope: Envelope) -> Iterator[str]:
    to = check_address(envelope.to)
    if isinstance(to, Refused):
        raise Invalid("to", to.reason)
    message_id = envelope.message_id or message_id_of(envelope.delivery_id, envelope.from_address)
    if not _MESSAGE_ID.fullmatch(message_id) or len(message_id) > _LONGEST_VALUE:
        raise Invalid("message_id", "A Message-ID looks like <name@domain>.")
    yield f"Date: {format_datetime(envelope.date)}"
    yield f"Message-ID: {message_id}"
    yield from _mailbox_field("From", "from", envelope.from_address)
    if envelope.reply_to:
        yield from _mailbox_field("Reply-To", "reply_to", envelope.reply_to)
    yield f"To: {to.normal}"
    yield from _folded("Subject", _unstructured(envelope.subject))
    for name, value in envelope.headers.items():
        yield from _folded(name, _further(name, value))
    yield "MIME-Version: 1.0"
    yield from _content(envelope)


def _content(envelope: Envelope) -> Iterator[str]:
    if not envelope.attachments:
        yield from _texts(envelope)
        return
    boundary = _boundary("mixed boundary", envelope)
    yield from ("Content-Type: multipart/mixed;", f' boundary="{boundary}"', "")
    yield f"--{boundary}"
    yield from _texts(envelope)
    for part in envelope.attachments:
        yield f"--{boundary}"
        yield part
    yield f"--{boundary}--"


def _boundary(purpose: str, envelope: Envelope) -> str:
    # "=_" cannot come out of quoted-printable or base64, and _part keeps it out of plain text.
    return "=_" + sha256_hex(f"{purpose} {_checked_id(envelope.delivery_id)}")[:40]


def _texts(envelope: Envelope) -> Iterator[str]:
    if not envelope.html:  # an empty HTML part would hide the text from its reader
        yield from _part("text", "plain", envelope.text)
        return
    boundary = _boundary("boundary", envelope)
    yield from ("Content-Type: multipart/alternative;", f' boundary="{boundary}"', "")
    yield f"--{boundary}"
    yield from _part("text", "plain", envelope.text)
    yield f"--{boundary}"
    yield from _part("html", "html", envelope.html)
    yield f"--{boundary}--"


def _part(field_name: str, subtype: str, content: str) -> Iterator[str]:
    """The header fields, the empty line and the encoded lines of one text."""
    text = content.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n") + "\n"
    lines = text.split("\n")[:-1]
    yield f"Content-Type: text/{subtype}; charset=utf-8"
    if _PLAIN_BODY.fullmatch(text) and "--=_" not in text and len(max(lines, key=len)) <= _LONGEST_LINE:
        yield from ("Content-Transfer-Encoding: 7bit", "", "\r\n".join(lines))
        return
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise Invalid(field_name, "The text holds half a surrogate pair; take that character out.") from None
    quoted = binascii.b2a_qp(data)
    packed = base64.encodebytes(data.replace(b"\n", b"\r\n"))  # text in base64 keeps its own line ends
    name, encoded = min(("quoted-printable", quoted), ("base64", packed), key=lambda choice: len(choice[1]))
    yield from (f"Content-Transfer-Encoding: {name}", "", *encoded.decode().removesuffix("\n").split("\n"))


def _folded(name: str, words: Iterable[str]) -> Iterator[str]:
    """The lines of a header field, broken between words only."""
    line = f"{name}:"
    for position, word in enumerate(words):
        if position and len(line) + 1 + len(word) > _LINE:
            yield line
            line = ""
        line += f" {word}"
    yield line


def _unstructured(text: str) -> list[str]:
    """The words of a header field that is free text."""
    if reason := check_header(text):
        raise Invalid("subject", reason)
    return text.split(" ") if _WORDS.fullmatch(text) and "=?" not in text else list(_encoded_words(text))


def _further(name: str, value: str) -> list[str]:
    if not _HEADER_NAME.fullmatch(name) or _OWN_HEADERS.fullmatch(name):
        raise Invalid(f"headers.{name}", "This header field cannot be set here.")
    if check_header(value) or not value.isascii() or not value.strip() or len(value) > _LONGEST_VALUE:
        raise Invalid(
            f"headers.{name}", f"A further header field is plain ASCII of up to {_LONGEST_VALUE} characters."
        )
    return value.split()


def _named(mailbox: Mailbox) -> list[str]:
    """The words of a name and its address."""
    name, address = mailbox.name, mailbox.address.normal
    if not name:
        return [address]
    if "=?" in name or not _QUOTABLE.fullmatch(name):
        return [*_encoded_words(name), f"<{address}>"]
    if _ATOMS.fullmatch(name):
        return [*name.split(" "), f"<{address}>"]
    escaped = name.replace("\\", r"\\").replace('"', r"\"")
    return [f'"{escaped}"', f"<{address}>"]


def _encoded_words(text: str) -> Iterator[str]:
    """RFC 2047 words of up to 60 characters that never cut a character in two."""
    chunk = b""
    for character in text:
        data = character.encode()
        if len(chunk) + len(data) > 36:
            yield _encoded_word(chunk)
            chunk = b""
        chunk += data
    if chunk:
        yield _encoded_word(chunk)


def _encoded_word(chunk: bytes) -> str:
    return f"=?utf-8?b?{base64.b64encode(chunk).decode()}?="


@lru_cache(maxsize=64)  # the same for everybody who gets a campaign
def _mailbox_field(name: str, field_name: str, text: str) -> tuple[str, ...]:
    """The lines of a header field that names a mailbox."""
    return tuple(_folded(name, _named(_mailbox(field_name, text))))


def _mailbox(field_name: str, text: str) -> Mailbox:
    mailbox = check_mailbox(text)
    if isinstance(mailbox, Refused):
        raise Invalid(field_name, mailbox.reason)
    return mailbox


def _message_id(delivery_id: str, sender: Mailbox) -> str:
    return f"<{_checked_id(delivery_id)}@{sender.address.domain}>"


def _checked_id(delivery_id: str) -> str:
    if not _DELIVERY_ID.fullmatch(delivery_id):
        raise ValueError("a delivery id has up to 64 letters, digits, _ and -")
    return delivery_id
