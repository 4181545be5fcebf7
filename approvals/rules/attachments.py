"""What may be attached to a mail, and what about it deserves a second look: names, types, and what its bytes say."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from approvals.rules.addresses import check_header
from approvals.rules.links import Doubt
from approvals.rules.looks import unseen

MB = 1024 * 1024
MOST = 10  # of one campaign
MOST_BYTES = 10 * MB  # of one file
MOST_TOGETHER = 15 * MB  # of all files of a campaign; in a mail they take a third more
LONGEST_NAME = 150  # characters
LONGEST_NAME_BYTES = 240  # in UTF-8: what every file system takes
LONGEST_TYPE = 127  # characters
HEAD = 512  # bytes of a file that tell what it is

_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")
_SEPARATORS = re.compile(r"[/\\:]")
# What follows a file's last dot.
_PROGRAMS = frozenset((
    "apk", "app", "bat", "cmd", "com", "cpl", "dll", "dmg", "exe", "hta", "img", "iso", "jar", "js", "jse", "lnk",
    "msi", "msp", "pif", "ps1", "reg", "scr", "sh", "url", "vb", "vbe", "vbs", "vhd", "wsf", "wsh", "xll",
))  # fmt: skip
_MACROS = frozenset(("docm", "dotm", "potm", "ppsm", "pptm", "xlam", "xlsm", "xltm"))
_PAGES = frozenset(("htm", "html", "mht", "mhtml", "shtml", "svg", "xhtml"))
_DOCUMENTS = frozenset((
    "csv", "doc", "docx", "gif", "ics", "jpeg", "jpg", "odp", "ods", "odt", "pdf", "png", "ppt", "pptx", "rtf", "txt",
    "webp", "xls", "xlsx",
))  # fmt: skip
_AROUND = frozenset(
    ("asc", "bz2", "gz", "p7s", "sig", "xz", "zst")
)  # packs or signs a file whose name it goes on with
_BEGINNINGS = (
    (b"%PDF-", "pdf"), (b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF87a", "gif"),
    (b"GIF89a", "gif"), (b"PK\x03\x04", "zip"), (b"PK\x05\x06", "zip"), (b"\x1f\x8b", "gzip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"), (b"MZ", "program"), (b"\x7fELF", "program"),
    (b"\xcf\xfa\xed\xfe", "program"), (b"\xca\xfe\xba\xbe", "program"), (b"#!", "script"),
)  # fmt: skip
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|head|body|script|svg)\b", re.IGNORECASE)
# What a type or an ending promises, as far as the first bytes can tell.
_OF_TYPE = {
    "application/pdf": "pdf", "image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "application/zip": "zip",
    "application/gzip": "gzip", "application/msword": "ole", "application/vnd.ms-excel": "ole",
    "application/vnd.ms-powerpoint": "ole", "text/html": "html",
}  # fmt: skip
_OF_ENDING = {
    "pdf": "pdf", "png": "png", "jpg": "jpeg", "jpeg": "jpeg", "gif": "gif", "zip": "zip", "gz": "gzip",
    "docx": "zip", "xlsx": "zip", "pptx": "zip", "odt": "zip", "ods": "zip",
}  # fmt: skip
_ZIPPED = ("application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument.")
_TELLING = ("text/", "image/", "audio/", "video/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A file to attach: its SHA-256 in hex, and the name and type under which the mail carries it."""

    sha256: str
    filename: str
    content_type: str


@dataclass(frozen=True, slots=True)
class Attached:
    """A file as a version has it attached. `size` is in bytes; `looks_like` is what its first bytes say, or empty."""

    id: UUID
    filename: str
    content_type: str
    sha256: str
    size: int
    looks_like: str = ""


def check_filename(text: str) -> str | None:
    """None if a file may be attached under this name; otherwise why not."""
    if not text.strip():
        return "Give the file a name."
    if len(text) > LONGEST_NAME or len(text.encode("utf-8", "replace")) > LONGEST_NAME_BYTES:
        return f"Keep the file's name under {LONGEST_NAME} characters ({LONGEST_NAME_BYTES} bytes)."
    return check_header(text) or _misleading(text)


def _misleading(name: str) -> str | None:
    if found := _SEPARATORS.search(name):
        return f"A file's name has no “{found[0]}” in it. Name the file alone, without folders."
    if unseen(name).total:
        return "The name holds a character that cannot be seen, or that turns how it reads; take it out."
    if name != name.strip() or name.endswith("."):
        return "The name begins or ends with a space, or ends with a dot; take that off."
    return None


def check_content_type(text: str) -> str | None:
    """None if a file may be attached as this type; otherwise why not."""
    if not _TYPE.fullmatch(text) or len(text) > LONGEST_TYPE:
        return (
            "Write the type as type/subtype in small letters and without parameters, such as application/pdf."
        )
    if text.startswith(("message/", "multipart/")):
        return "A mail within a mail cannot be attached. Attach a file of another type."
    return None


def look_like(head: bytes) -> str:
    """What the first bytes of a file say it is: pdf, zip, program and so on; empty where they do not tell."""
    for beginning, kind in _BEGINNINGS:
        if head.startswith(beginning):
            return kind
    return "html" if _MARKUP.match(head[:HEAD]) else ""


def doubts_about(attached: Attached) -> Iterator[Doubt]:
    """What deserves a second look at this file. Nothing is opened: a file in order says nothing about its contents."""
    *before, ending = attached.filename.lower().rsplit(".", 2)
    ending = ending.strip() if before else ""
    looks = attached.looks_like
    if ending in _PROGRAMS or looks in ("program", "script"):
        yield Doubt(
            "danger",
            "attached_program",
            "It is a program, or starts one, on the machine of whoever opens it.",
        )
    elif ending in _PAGES or looks == "html":
        yield Doubt(
            "warn", "attached_page", "It opens as a web page, which can ask for passwords and lead elsewhere."
        )
    elif ending in _MACROS:
        yield Doubt("warn", "attached_macros", "It is a document that can hold a program (macros).")
    first = before[1].strip() if len(before) == 2 else ""
    if first in _DOCUMENTS and ending not in (first, *_AROUND):
        text = f"Its name ends twice, so that it passes for another kind of file: .{first}.{ending}"
        yield Doubt("danger", "attached_two_endings", text)
    if not _fits(attached.content_type, looks):
        text = f"It is sent as {attached.content_type}, but its first bytes are not of that type."
        yield Doubt("warn", "attached_other_type", text)
    elif ending in _OF_ENDING and _OF_ENDING[ending] != looks:
        text = f"Its name ends in .{ending}, but its first bytes are not of that kind."
        yield Doubt("warn", "attached_other_kind", text)


def _fits(content_type: str, looks: str) -> bool:
    promised = "zip" if content_type.startswith(_ZIPPED) else _OF_TYPE.get(content_type, "")
    if promised == "html":
        return looks in ("html", "")
    if promised:
        return looks == promised
    if content_type == "image/svg+xml":
        return looks in ("html", "")
    return not (looks and content_type.startswith(_TELLING))
