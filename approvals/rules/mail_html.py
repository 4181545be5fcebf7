"""What an HTML mail shows, hides, loads and leads to, read without showing it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from approvals.rules.markup import VOID, Close, Open, Text, tokens

MOST = 1_000_000  # characters that are looked at
_Kept = TypeVar("_Kept")
_KEPT = 400  # of the words of one link or one hidden stretch
_MOST_KEPT = 5_000  # links, images and hidden stretches that are kept; more are counted only

_DECLARATION = re.compile(r"\s*([\w-]+)\s*:\s*([^;]*)")
_RULE_SIGNS = re.compile(r"[{}]")
_SIMPLE = re.compile(r"(?:[a-z][a-z0-9]*)?(?:[.#][\w-]+)?", re.IGNORECASE)
_URL = re.compile(r"url\(\s*['\"]?([^'\")]{1,2000})", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_REMOTE = re.compile(r"\s*(?:https?:)?[\\/]{2}", re.IGNORECASE)
_TINY = re.compile(r"\s*0*[01](?:\.\d*)?\s*(?:px)?\s*")
_NOTHING = re.compile(r"\s*[+-]?0*\.?0*\s*(?:px|em|rem|%|pt)?\s*(?:!important)?\s*", re.IGNORECASE)
_FAR = re.compile(r"\s*-\d{3,}")
_WHITE = frozenset(("#fff", "#ffffff", "white", "rgb(255,255,255)", "rgba(255,255,255,1)"))
_RUNNING = frozenset(("script", "iframe", "object", "embed", "applet", "frame", "frameset", "portal"))
_ASKING = frozenset(("form", "input", "button", "select", "textarea"))
_UNSHOWN = frozenset(("script", "style", "title", "head", "template", "noembed", "noframes"))
_INLINE = frozenset(("a", "b", "i", "em", "strong", "span", "font", "u"))


@dataclass(slots=True)
class Link:
    """One link: where it leads, what it reads, whether a picture stands in it and whether it can be seen at all."""

    url: str
    words: str = ""
    pictured: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """One picture that a reader's program fetches from outside; `tiny` where nobody could see it."""

    url: str
    tiny: bool


@dataclass(slots=True)
class Seen:
    """Everything that was found. `whole` is False where the HTML is longer than what is looked at."""

    links: list[Link] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    running: Counter[str] = field(default_factory=Counter)
    asking: Counter[str] = field(default_factory=Counter)
    handlers: int = 0
    base: str = ""
    moves_on: bool = False
    imports: list[str] = field(default_factory=list)
    text: str = ""
    deepest: int = 0
    whole: bool = True
    left_out: int = 0

    def keep(self, found: list[_Kept], one: _Kept) -> None:
        """Add it, unless there are too many already: then it only counts."""
        if len(found) < _MOST_KEPT:
            found.append(one)
        else:
            self.left_out += 1


@dataclass(slots=True)
class _Element:
    """An open element, with what it hands down: whether it hides for good, whether its letters have no size, colours.

    `behind` is "?" where what stands behind the letters cannot be told.
    """

    name: str
    gone: bool = False
    sizeless: bool = False
    color: str = ""
    behind: str = ""

    @property
    def hidden(self) -> bool:
        """Whether nobody sees what stands directly in it."""
        behind = self.behind or "#ffffff"
        return self.gone or self.sizeless or self.color in (behind, "transparent")


def read(html: str) -> Seen:
    """What stands in the first MOST characters of `html`."""
    seen = Seen(whole=len(html) <= MOST)
    sheet = "\n".join(_sheets(html[:MOST]))
    _Reader(seen, sheet).read(html[:MOST])
    return seen


class _Reader:
    """Walks over the tokens with the elements that are open; never deeper in Python than one call."""

    def __init__(self, seen: Seen, sheet: str) -> None:
        self.seen, self.hiding = seen, frozenset(_hidden_by(sheet))
        self.open: list[_Element] = [_Element("", behind="?" if "background" in sheet.lower() else "")]
        self.named: Counter[str] = Counter()
        self.link: Link | None = None
        self.texts: list[str] = []
        self.dark: list[str] = []  # the hidden stretch that is being read

    def read(self, html: str) -> None:
        """Everything, from its beginning to its end."""
        for token in tokens(html):
            match token:
                case Text():
                    self._text(token)
                case Open():
                    self._opens(token)
                case Close():
                    self._closes(token.name)
        self._end_of_dark()
        self.seen.text = _SPACE.sub(" ", "".join(self.texts)).strip()

    def _text(self, token: Text) -> None:
        if token.of == "style":
            self._css(token.text)
        if token.of in _UNSHOWN or any(self.named[name] for name in ("title", "template")):
            return
        if self.link is not None and len(self.link.words) < _KEPT:
            self.link.words = _SPACE.sub(" ", self.link.words + token.text[:_KEPT])[:_KEPT]
        if not self.open[-1].hidden:
            if token.text.strip():
                self._end_of_dark()
            self.texts.append(token.text)
        elif token.text.strip():
            self.dark.append(token.text)

    def _opens(self, tag: Open) -> None:
        given, name = tag.attributes, tag.name
        style = _declarations(given.get("style", ""))
        element = self._element(tag, style)
        self._notes(tag, style, element.hidden)
        if name in VOID:
            return
        if name == "a":
            self._closes("a")
            if "href" in given:
                self.link = Link(given["href"], hidden=element.hidden)
                self.seen.keep(self.seen.links, self.link)
        self.open.append(element)
        self.named[name] += 1
        self.seen.deepest = max(self.seen.deepest, len(self.open) - 1)
        if name not in _INLINE:
            self.texts.append(" ")

    def _element(self, tag: Open, style: Mapping[str, str]) -> _Element:
        above, given = self.open[-1], tag.attributes
        size = style.get("font-size", "").lower()
        return _Element(
            tag.name,
            gone=above.gone or "hidden" in given or _hides(style) or bool(self.hiding & _selectors(tag)),
            sizeless=_sizeless(size) if size else above.sizeless,
            color=_color(style.get("color") or given.get("color", "")) or above.color,
            behind=_behind(style) or _color(given.get("bgcolor", "")) or above.behind,
        )

    def _notes(self, tag: Open, style: Mapping[str, str], hidden: bool) -> None:
        given, name, seen = tag.attributes, tag.name, self.seen
        if name in _RUNNING:
            seen.running[name] += 1
        if name in _ASKING:
            seen.asking[name] += 1
        seen.handlers += any(attribute.startswith("on") for attribute in given)
        if name == "base" and given.get("href"):
            seen.base = seen.base or given["href"]
        if name == "meta" and given.get("http-equiv", "").strip().lower() == "refresh":
            seen.moves_on = True
        if name == "link" and _REMOTE.match(given.get("href", "")):
            seen.keep(seen.imports, given["href"])
        if name == "area" and "href" in given:
            seen.keep(seen.links, Link(given["href"], pictured=True, hidden=hidden))
        if name in ("form", "button") and (given.get("action") or given.get("formaction")):
            seen.keep(seen.links, Link(given.get("action") or given["formaction"], words="(a form)"))
        if name in ("img", "image") and self.link is not None:
            self.link.pictured = True
            self.link.words = f"{self.link.words} {given.get('alt', '')}".strip()[:_KEPT]
        for url in _pictures(tag, style):
            seen.keep(seen.images, Image(url, name == "img" and (hidden or _tiny(given, style))))

    def _css(self, text: str) -> None:
        for found in _URL.finditer(text):
            if _REMOTE.match(found[1]):
                self.seen.keep(self.seen.images, Image(found[1], False))
        if re.search(r"@import", text, re.IGNORECASE):
            self.seen.keep(self.seen.imports, "@import")

    def _closes(self, name: str) -> None:
        if not self.named[name]:
            return
        while True:
            element = self.open.pop()
            self.named[element.name] -= 1
            if element.name == "a":
                self.link = None
            if element.name == name:
                break
        if name not in _INLINE:
            self.texts.append(" ")

    def _end_of_dark(self) -> None:
        if self.dark:
            self.seen.keep(self.seen.hidden, _SPACE.sub(" ", "".join(self.dark)).strip()[:_KEPT])
            self.dark = []


def _pictures(tag: Open, style: Mapping[str, str]) -> Iterator[str]:
    given = tag.attributes
    sources = [given.get(name, "") for name in ("src", "background", "poster")]
    sources += [part.strip().partition(" ")[0] for part in given.get("srcset", "").split(",", 20)]
    sources += [found[1] for value in style.values() for found in _URL.finditer(value)]
    yield from dict.fromkeys(source for source in sources if _REMOTE.match(source))


def _tiny(given: Mapping[str, str], style: Mapping[str, str]) -> bool:
    sizes = [given.get(name) or style.get(name, "") for name in ("width", "height")]
    return any(bool(size) and bool(_TINY.fullmatch(size)) for size in sizes)


def _declarations(style: str) -> dict[str, str]:
    if not style:
        return {}
    return {
        found[1].lower(): found[2].strip()
        for part in style[:10_000].split(";")
        if (found := _DECLARATION.match(part))
    }


def _hides(style: Mapping[str, str]) -> bool:
    if not style:
        return False
    given = {name: value.replace("!important", "").strip().lower() for name, value in style.items()}
    if given.get("display") == "none" or given.get("visibility") in ("hidden", "collapse"):
        return True
    if given.get("mso-hide") == "all" or _NOTHING.fullmatch(given.get("opacity", "1")):
        return True
    if "hidden" in given.get("overflow", "") and any(
        _NOTHING.fullmatch(given[name])
        for name in ("height", "max-height", "width", "max-width")
        if given.get(name)
    ):
        return True
    return any(_FAR.match(given.get(name, "")) for name in ("text-indent", "left", "top", "margin-left"))


def _sizeless(size: str) -> bool:
    return bool(_NOTHING.fullmatch(size)) or size.replace("!important", "").strip() in ("1px", "1pt")


def _behind(style: Mapping[str, str]) -> str:
    given = style.get("background", "").lower()
    if style.get("background-image") or "url(" in given or "gradient" in given:
        return "?"
    return _color(style.get("background-color") or given.partition(" ")[0])


def _color(text: str) -> str:
    """A colour in one spelling, as far as two spellings of one matter."""
    plain = text.replace("!important", "").replace(" ", "").lower()
    if plain in _WHITE:
        return "#ffffff"
    if plain in ("#000", "#000000", "black", "rgb(0,0,0)"):
        return "#000000"
    if len(plain) == 4 and plain.startswith("#"):
        return "#" + "".join(2 * digit for digit in plain[1:])
    return plain


def _selectors(tag: Open) -> set[str]:
    given = tag.attributes
    names = [f".{one}" for one in given.get("class", "").split()[:50]]
    if given.get("id"):
        names.append(f"#{given['id']}")
    return {*names, *(f"{tag.name}{one}" for one in names), tag.name}


def _sheets(html: str) -> Iterator[str]:
    if "<style" not in html.lower():
        return
    yield from (token.text for token in tokens(html) if isinstance(token, Text) and token.of == "style")


def _hidden_by(css: str) -> Iterator[str]:
    depth, start, names = 0, 0, ""
    for sign in _RULE_SIGNS.finditer(css):
        if sign[0] == "{":
            if depth == 0:
                names = css[start : sign.start()]
            depth += 1
        elif depth:
            depth -= 1
            body = css[start : sign.start()]
            if depth == 0 and "@" not in names and _hides(_declarations(body)):
                for name in names.split(",")[:200]:
                    bare = name.rpartition("*/")[2].strip()
                    if bare and _SIMPLE.fullmatch(bare):
                        yield bare
        start = sign.end()
