"""Calls that would be accepted, and the bad values that each of their fields meets."""

from dataclasses import dataclass
from typing import Any

from tests.api.world import a_call, a_campaign, a_result, a_run, an_event, the_end

LINE = {
    "number": 7,
    "flag": True,
    "list": ["a"],
    "object": {"a": "b"},
    "empty": "",
    "blank": "  ",
    "line break": "a\nb",
    "carriage return": "a\rb",
    "tab": "a\tb",
    "vertical tab": "a\x0bb",
    "form feed": "a\x0cb",
    "file separator": "a\x1cb",
    "group separator": "a\x1db",
    "record separator": "a\x1eb",
    "delete": "a\x7fb",
    "next line": "a\x85b",
    "line separator": "a\u2028b",
    "paragraph separator": "a\u2029b",
}
LONG_TEXT = "x" * 1_000_001
TEXT = {"number": 7, "null": None, "list": ["a"], "object": {}, "too long": LONG_TEXT}
NUMBER = {"text": "1", "flag": True, "fraction": 1.5, "null": None, "list": [1]}
TIME = {
    "number": 1_777_900_000,
    "null": None,
    "empty": "",
    "no zone": "2026-05-04T13:30:00",
    "date alone": "2026-05-04",
    "no such day": "2026-02-30T13:30:00Z",
    "no such hour": "2026-05-04T24:30:00Z",
    "no such zone": "2026-05-04T13:30:00+25:00",
    "week date": "2026-W01-1T00:00:00Z",
    "long ago": "0001-01-01T00:00:00+14:00",
    "far away": "9999-12-31T23:59:59-14:00",
    "trailing line break": "2026-05-04T13:30:00Z\n",
    "other digits": "\uff12\uff10\uff12\uff16-05-04T13:30:00Z",
}
OBJECT = {"number": 7, "text": "a", "list": [], "flag": True, "null": None}
UUID = {"number": 7, "text": "a", "urn": "urn:uuid:00000000-0000-4000-8000-000000000000", "list": []}


def line(most: int) -> dict[str, Any]:
    return LINE | {"too long": "x" * (most + 1)}


def required(most: int = 200) -> dict[str, Any]:
    return line(most) | {"null": None}


@dataclass(frozen=True)
class Call:
    """A call that would be accepted, and the bad values that each of its fields meets."""

    path: str
    body: dict[str, Any]
    fields: dict[str, dict[str, Any]]
    optional: frozenset[str] = frozenset()

    @property
    def must_be_there(self) -> list[str]:
        return [name for name in self.fields if name not in self.optional]


def _of_events(event: dict[str, Any], **fields: dict[str, Any]) -> Call:
    both = {
        "seq": NUMBER | {"zero": 0, "negative": -1, "too large": 2_000_000_001, "beyond 64 bits": 2**63},
        "type": required() | {"unknown": "tool"},
        "at": TIME,
        "origin": required() | {"unknown": "elsewhere"},
    }
    optional = {"origin", "author", "data", "receipt", "result", "error"}
    if event["type"].startswith("node"):
        optional.add("name")
    return Call("/runs/RUN/events", event, both | fields, frozenset(optional))


CALLS = {
    "run": Call(
        "/runs",
        a_run(),
        {
            "external_id": required(),
            "agent": required(),
            "session_id": line(200),
            "subject": required(),
            "trigger": required(),
            "input": {},
        },
        frozenset({"session_id"}),
    ),
    "heartbeat": _of_events(an_event(1)),
    "message": _of_events(
        an_event(1, "message", text="Hello", author="support"),
        text=TEXT,
        author=line(200),
        data={name: value for name, value in OBJECT.items() if name != "null"},
    ),
    "tool_call": _of_events(a_call(1), call_id=required(), name=required(), args=OBJECT),
    "tool_result": _of_events(a_result(1), call_id=required()),
    "tool_result, failed": _of_events(
        an_event(1, "tool_result", call_id="c-1", error="no"), call_id=required(), error={"null": None}
    ),
    "node_started": _of_events(an_event(1, "node_started", name="look up"), name=line(200)),
    "node_finished": _of_events(an_event(1, "node_finished"), name=line(200)),
    "ended": _of_events(the_end(1), outcome=required() | {"unknown": "interrupted"}, error={"null": None}),
    "campaign": Call(
        "/campaigns",
        a_campaign(),
        {
            "external_id": required(),
            "name": required(),
            "purpose": {name: value for name, value in TEXT.items() if name != "null"}
            | {"too long": "x" * 4_001},
            "send_by": {name: value for name, value in TIME.items() if name != "null"},
            "run_id": UUID | {"unknown": "00000000-0000-4000-8000-000000000000"},
            "from": required(400)
            | {
                "no address": "Shop",
                "two addresses": "a@shop.example.com, b@shop.example.com",
                "two in brackets": "A <a@shop.example.com> <b@shop.example.com>",
                "no domain": "a@",
                "another header": "a@shop.example.com\r\nBcc: eve@shop.example.com",
                "encoded local part": "ü@shop.example.com",
            },
            "reply_to": line(400) | {"no address": "Shop", "two": "a@shop.example.com;b@shop.example.com"},
            "subject": required(400) | {"another header": "Hello\r\nBcc: eve@shop.example.com"},
            "text": TEXT | {"empty": "", "blank": " \n "},
            "html": {name: value for name, value in TEXT.items() if name != "null"},
            "dataset_id": UUID,
            "where": {"without a list": {"country": "DE"}, "number": 1, "text": "x"},
            "attachments": {
                "number": 7,
                "text": "a",
                "object": {},
                "flag": True,
                "null": None,
                "too many": [{}] * 11,
            },
            "recipients": OBJECT | {"empty": [], "too many": [{"email": "a@b.example.com"}] * 10_001},
        },
        frozenset({"purpose", "send_by", "run_id", "reply_to", "html", "dataset_id", "where", "attachments"}),
    ),
}
