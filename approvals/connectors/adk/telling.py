"""What the items of a stream say for the journal: whole events as rows, calls that are still being written as lines.

Of a call that is written piece by piece each piece has an id of its own, and what its store keeps has another one. So
the first piece stands for all of them until the whole event of the same writer replaces it.
"""

from collections.abc import Mapping
from typing import Any

from approvals.connectors.adk.orders import StreamItem, Told
from approvals.connectors.adk.rows import streamed_row
from approvals.rules.observed import Line, Row


class Telling:
    """One stream, item by item."""

    def __init__(self) -> None:
        self._announced: dict[str, dict[str, Line]] = {}  # by writer, then by the name of the tool

    def pieces(self, item: StreamItem) -> list[Row | Line]:
        """What the item adds to the journal, in this order; nothing where it is no event, or a part without a call."""
        if not isinstance(item, Told) or _is_part_of_a_text(item.event):
            return []
        row, writer = streamed_row(item.event), f"{item.event.get('author')}/{item.event.get('branch')}"
        if item.event.get("partial") is True:
            return list(self._first_parts(writer, row))
        if not _is_whole(item.event):
            return [row]
        return [*self._replaced(writer, row), row]

    def _first_parts(self, writer: str, part: Row) -> list[Line]:
        known = self._announced.setdefault(writer, {})
        new = {
            line.name or "": line
            for line in part.lines
            if line.type == "tool_call" and (line.name or "") not in known
        }
        known.update(new)
        return list(new.values())

    def _replaced(self, writer: str, whole: Row) -> list[Line]:
        return [
            Line(type="tool_result", at=whole.at, call_id=line.call_id, name=line.name, outcome="replaced")
            for line in self._announced.pop(writer, {}).values()
        ]


def _is_part_of_a_text(event: Mapping[str, Any]) -> bool:
    """Whether it is a piece of what the model says or thinks: most of a stream, and the whole comes after it."""
    content = event.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    return (
        event.get("partial") is True
        and isinstance(parts, list)
        and all(isinstance(part, dict) and part.keys() <= {"text", "thought"} for part in parts)
    )


def _is_whole(event: Mapping[str, Any]) -> bool:
    """Whether the writer has shown all of what it wrote: an error replaces nothing, and a call may have been in it."""
    content = event.get("content")
    return isinstance(content, dict) and bool(content.get("parts")) and not event.get("errorCode")
