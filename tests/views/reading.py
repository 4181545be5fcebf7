"""Reading a page the way a person does: its words, its rows, its links."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

_VOID = {"input", "img", "br", "meta", "link", "hr"}


def _folded(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


class Read(HTMLParser):
    """A page that was answered. `text` is everything in its body, `rows` the text of each row of its lists."""

    def __init__(self, response: Any) -> None:
        super().__init__()
        self.status = response.status_code
        self.html: str = response.content.decode()
        self.links: dict[str, str] = {}
        self.titles: list[str] = []
        self.options: list[str] = []
        self._open: list[tuple[str, dict[str, str], list[str]]] = [("", {}, [])]
        self._rows: list[str] = []
        self.feed(self.html)
        self.text = _folded("".join(self._open[0][2]))
        self.rows = [_folded(row) for row in self._rows]

    def __contains__(self, words: str) -> bool:
        return words in self.text

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if "title" in attributes:
            self.titles.append(attributes["title"])
        if tag not in _VOID:
            self._open.append((tag, attributes, []))

    def handle_endtag(self, tag: str) -> None:
        while len(self._open) > 1:
            opened, attributes, words = self._open.pop()
            said = "".join(words)
            if opened not in ("script", "style", "title"):
                inline = opened in ("a", "b", "strong", "span", "code", "time")
                self._open[-1][2].append(said if inline else f" {said} ")
            if opened == "a":
                self.links.setdefault(_folded(said), attributes.get("href", ""))
            if opened == "option" and said:  # a suggestion has none
                self.options.append(_folded(said))
            if opened == "li" and "row" in attributes.get("class", "").split():
                self._rows.append(said)
            if opened == tag:
                break

    def handle_data(self, data: str) -> None:
        self._open[-1][2].append(data)

    def row(self, words: str) -> str:
        """The one row in which these words stand."""
        found = [row for row in self.rows if words in row]
        assert len(found) == 1, (words, self.rows)
        return found[0]
