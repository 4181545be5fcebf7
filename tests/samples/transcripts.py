"""Turns the rows of an agent's session into events of the machine API, as a connector that writes ahead would."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESTORED = "__adk_internal_restored_event"


def events_of(name: str, *, ended: str | None = None) -> list[dict[str, Any]]:
    """The events of `db_NAME.jsonl` in order; with the outcome of the run where its end was seen."""
    rows = [json.loads(line) for line in (HERE / f"db_{name}.jsonl").read_text().splitlines()]
    events: list[dict[str, Any]] = []
    for row in rows:
        data = row["event_data"]
        both = {"at": f"{row['timestamp']}Z"}
        if data.get("custom_metadata", {}).get(RESTORED):
            both["origin"] = "restored"
        events += [event | both for event in _of_row(data, _open_calls(events))]
    if ended:
        events.append({"type": "ended", "at": events[-1]["at"], "outcome": ended})
    return [{"seq": seq} | event for seq, event in enumerate(events, start=1)]


def _of_row(data: dict[str, Any], open_calls: list[str]) -> Iterator[dict[str, Any]]:
    for part in data.get("content", {}).get("parts", []):
        if call := part.get("function_call"):
            yield {"type": "tool_call", "call_id": call["id"], "name": call["name"], "args": call["args"]}
        elif response := part.get("function_response"):
            yield {"type": "tool_result", "call_id": response["id"], "result": response["response"]}
        elif "text" in part:
            yield {"type": "message", "author": data["author"], "text": part["text"]}
    if code := data.get("error_code"):
        error = {"code": code, "message": data["error_message"]}
        if len(open_calls) == 1 and code != "RESOURCE_EXHAUSTED":
            # A tool that raises leaves an error row instead of a response.
            yield {"type": "tool_result", "call_id": open_calls[0], "error": error}
        else:
            yield {"type": "message", "author": data["author"], "text": "", "error": error}


def _open_calls(events: list[dict[str, Any]]) -> list[str]:
    answered = {event["call_id"] for event in events if event["type"] == "tool_result"}
    return [
        event["call_id"]
        for event in events
        if event["type"] == "tool_call" and event["call_id"] not in answered
    ]


def outcome_of_stream(name: str) -> str | None:
    """How the run of `sse_NAME.txt` ended, if its client saw the end of the stream: completed or failed."""
    _, response = (HERE / f"sse_{name}.txt").read_text().split("## response\n")
    status, *lines = response.splitlines()
    if not status.startswith("HTTP 200 text/event-stream"):
        return None
    return "failed" if any(line.startswith('data: {"error"') for line in lines) else "completed"
