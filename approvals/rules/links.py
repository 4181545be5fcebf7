"""Where the links of a message lead, and what about one deserves a second look: its scheme, its host, its words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from approvals.rules.looks import mixed, unseen

Tone = Literal["danger", "warn", "info"]

_SHORTENERS = frozenset(
    (
        "bit.ly",
        "buff.ly",
        "cutt.ly",
        "goo.gl",
        "is.gd",
        "lnkd.in",
        "ow.ly",
        "rb.gy",
        "rebrand.ly",
        "t.co",
        "tinyurl.com",
    )
)
_IGNORED = re.compile(r"[\t\n\r]")  # by browsers, anywhere in an address
_AROUND = "".join(map(chr, range(0x21)))  # and these at both ends
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_SLOT = re.compile(r"\{\{[^{}]*\}\}")
_NUMBERS = re.compile(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+)){0,3}|\[[0-9a-f:.]+\]", re.IGNORECASE)
_WRITTEN = re.compile(  # what a person takes for an address when they read it
    r"(?:https?://|www\.)[^\s<>\"'()]+|(?<![\w@.-])(?:[\w-]{1,63}\.){1,5}[^\W\d_]{2,24}(?![\w@-])(?:/[^\s<>\"']*)?",
    re.IGNORECASE,
)
# A bare name counts as a site with one of these at its end, so that `Node.js` and `Dr.Smith` do not.
_ENDS = frozenset(
    ("com", "net", "org", "info", "biz", "edu", "gov", "mil", "int", "app", "dev", "shop", "store", "xyz")
)
_FILES = frozenset(("js", "md", "py", "rs", "sh", "ts", "pl", "ps", "ai"))
_IN_TEXT = re.compile(r"(?:https?://|www\.)[^\s<>\"'\u201c\u201d]+", re.IGNORECASE)
_MAIL = re.compile(r"[^\s@<>]+@[^\s@<>]+")
_PLAIN_SCHEMES = ("https", "mailto", "tel")
_RUNS = ("javascript", "data", "vbscript", "file", "blob")
_LONGEST = 4_000  # characters of an address that are looked at


@dataclass(frozen=True, slots=True)
class Doubt:
    """One thing about a link, in a sentence of our own and in the `words` of the message that it is about."""

    tone: Tone
    code: str
    text: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """One address to which something leads. `host` is as it is shown to people, empty where there is none."""

    url: str
    scheme: str
    host: str
    doubts: tuple[Doubt, ...]


def target_of(url: str) -> Target:
    """What `url` is to a browser, and what is doubtful about it wherever it stands."""
    cleaned = _IGNORED.sub("", url.strip(_AROUND))[:_LONGEST]
    scheme = _scheme(cleaned)
    host = _host(cleaned, scheme)
    return Target(url, scheme, shown(host), tuple(_doubts(cleaned, scheme, host)))


def doubt_of_words(target: Target, words: str) -> Doubt | None:
    """What is wrong where a link to `target` reads `words`; None where nothing is."""
    if target.scheme == "mailto":
        named = _MAIL.search(words)
        if named and _mail(target.url) and named[0].strip(".,;").lower() != _mail(target.url):
            return Doubt("danger", "other_address", "Its words name another e-mail address.", words)
        return None
    for found in _WRITTEN.finditer(words[:1_000]):
        written = found[0]
        named_host = shown(_host(written if "://" in written else f"https://{written}", "https"))
        bare = not written.lower().startswith(("http", "www."))
        if bare and not _is_site(named_host):
            continue
        if named_host and not _same_site(named_host, target.host):
            return Doubt(
                "danger", "other_site", "Its words name another site than the one it leads to.", words
            )
    return None


def links_in(text: str) -> Iterator[str]:
    """The addresses that a mail program makes links of in a plain text."""
    for found in _IN_TEXT.finditer(text):
        yield found[0].rstrip(".,;:!?)]}*_")


def shown(host: str) -> str:
    """A host the way it reads: `xn--` labels decoded where they can be."""
    labels = []
    for label in host.lower().rstrip(".").split("."):
        try:
            labels.append(label[4:].encode("ascii").decode("punycode") if label.startswith("xn--") else label)
        except UnicodeError:
            labels.append(label)
    return ".".join(labels)


def _scheme(url: str) -> str:
    if found := _SCHEME.match(url):
        return found[1].lower()
    return "https" if url[:2].replace("\\", "/") == "//" or url.lower().startswith("www.") else ""


def _host(url: str, scheme: str) -> str:
    if scheme not in ("http", "https", "ftp"):
        return ""
    found = _SCHEME.match(url)
    rest = (url[found.end() :] if found else url).replace("\\", "/").lstrip("/")
    place = re.split(r"[/?#]", rest, maxsplit=1)[0]
    host = unquote(place.rpartition("@")[2])
    return host if host.startswith("[") else host.partition(":")[0]


def _doubts(url: str, scheme: str, host: str) -> Iterator[Doubt]:
    if scheme in _RUNS:
        yield Doubt(
            "danger", "runs", f"It is a {scheme}: address, which opens no page but may run or hide something."
        )
        return
    if _SLOT.search(url):
        whole = _SLOT.search(host) or _SLOT.match(url)
        text = (
            "Where it leads depends on a value of each recipient."
            if whole
            else "It holds a value of each recipient."
        )
        yield Doubt("warn" if whole else "info", "differs", text)
    if not scheme:
        if url and not url.startswith("#") and not _SLOT.match(url):
            yield Doubt(
                "warn", "nowhere", "It has no https:// before it, so most mail programs cannot open it."
            )
        return
    if scheme == "http":
        yield Doubt("warn", "unencrypted", "It is not encrypted (http).")
    elif scheme not in _PLAIN_SCHEMES:
        yield Doubt("warn", "scheme", f"It is a {scheme}: address, which opens another program.")
    if scheme in ("http", "https"):
        yield from _doubts_of_host(url, host)


def _doubts_of_host(url: str, host: str) -> Iterator[Doubt]:
    readable = shown(host)
    authority = re.split(r"[/?#]", url.replace("\\", "/").partition(":")[2].lstrip("/"), maxsplit=1)[0]
    if "@" in authority:
        yield Doubt(
            "danger", "before_at", "What stands before the @ is no site; it leads to the one behind it.", host
        )
    if not host:
        yield Doubt("warn", "nowhere", "It names no site.")
    elif _NUMBERS.fullmatch(host):
        yield Doubt("warn", "numbers", "It leads to a bare number instead of a named site.", host)
    elif readable in _SHORTENERS or readable.removeprefix("www.") in _SHORTENERS:
        yield Doubt("warn", "short", "It is a short link: where it leads in the end cannot be seen.", host)
    if not readable.isascii():
        written = host if host.isascii() else _punycode(host)
        if mixed(readable.replace("-", "")) or unseen(readable).total:
            yield Doubt(
                "danger", "mixed_host", "The name of its site mixes letters that look alike.", written
            )
        else:
            yield Doubt("warn", "foreign_host", "The name of its site has letters beyond a to z.", written)


def _punycode(host: str) -> str:
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host


def _mail(url: str) -> str:
    return unquote(url.strip(_AROUND)[7:].partition("?")[0]).strip().lower()


def _is_site(name: str) -> bool:
    end = name.rpartition(".")[2]
    return (
        end in _ENDS or end in ("example", "test", "online", "site") or (len(end) == 2 and end not in _FILES)
    )


def _same_site(one: str, other: str) -> bool:
    """Whether one is the other, or a part of it; `www.` is not said."""
    a, b = one.removeprefix("www."), other.removeprefix("www.")
    return a == b or a.endswith(f".{b}") or b.endswith(f".{a}")
