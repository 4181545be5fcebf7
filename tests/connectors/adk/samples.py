"""Rows and streams of real ADK runs, read as the connector reads them."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from approvals.connectors.adk.rows import stored_row, streamed_row
from approvals.rules.observed import Row

FOLDER = Path(__file__).parents[2] / "samples" / "adk"


def stored(name: str) -> list[Row]:
    """The rows of `db_NAME.jsonl`."""
    lines = (FOLDER / f"db_{name}.jsonl").read_text().splitlines()
    return [
        stored_row(
            json.dumps(row["event_data"]),
            event_id=row["id"],
            invocation_id=row["invocation_id"],
            at=datetime.fromisoformat(row["timestamp"]).replace(tzinfo=UTC),
            digest=b"x" * 32,
        )
        for row in map(json.loads, lines)
    ]


def streamed(name: str) -> list[Row]:
    """The events of `sse_NAME.txt`, without the error frames, which are no events."""
    lines = (FOLDER / f"sse_{name}.txt").read_text().splitlines()
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
    return [streamed_row(event) for event in events if "error" not in event]


def names(kind: str) -> list[str]:
    """The samples there are of a kind: `db` or `sse`."""
    return sorted(path.stem.removeprefix(f"{kind}_") for path in FOLDER.glob(f"{kind}_*"))


def calls(rows: Sequence[Row]) -> dict[str, str]:
    """Tool -> what came of its call in the end, with " (partial)" for parts of a streamed call."""
    told: dict[str, str] = {}
    for line in (line for row in rows for line in row.lines if line.call_id):
        if line.type == "tool_call":
            told[f"{line.name}{' (partial)' if (line.content or {}).get('partial') else ''}"] = "open"
        else:
            told[str(line.name)] = line.outcome or ("failed" if line.is_error else "answered")
    return told
