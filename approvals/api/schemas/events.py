"""Events of a run's journal, one class a type."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from approvals.rules.fields import AnyJson, Body, Line, Seq, Text, Time, wrong
from approvals.services.journal import NewEvent

MOST_EVENTS = 1_000


class _Event(Body):
    type: str
    seq: Seq
    at: Time = Field(description="When it happened, as the runtime says.")
    origin: Literal["live", "restored"] = Field(
        "live",
        description="`restored` marks an event that this run did not live through; its record is unknown then.",
    )

    def told(self) -> NewEvent:
        """The event as the journal takes it."""
        return NewEvent(seq=self.seq, at=self.at, origin=self.origin, type=self.type, **self._rest())

    def _rest(self) -> dict[str, Any]:
        return {}

    def _given(self, *names: str) -> dict[str, Any] | None:
        """Those of these members that were given, as the content to store; None if none was."""
        return {name: getattr(self, name) for name in names if name in self.model_fields_set} or None


class Heartbeat(_Event):
    """The run is alive."""

    type: Literal["heartbeat"]


class Message(_Event):
    """Something that was said, or an error that the agent or its model met."""

    type: Literal["message"]
    text: Text
    author: Line | None = None
    error: AnyJson = None
    data: dict[str, Any] | None = Field(None, description="Whatever else is worth keeping.")

    def _rest(self) -> dict[str, Any]:
        return {"content": self._given("text", "author", "error", "data")}


class ToolCall(_Event):
    """A tool is about to be called. Report it before it runs, and have the runtime added with --writes-ahead: then a
    missing call proves that nothing ran."""

    type: Literal["tool_call"]
    call_id: Line
    name: Line
    args: dict[str, Any]

    def _rest(self) -> dict[str, Any]:
        return {"call_id": self.call_id, "name": self.name, "content": {"args": self.args}}


class ToolResult(_Event):
    """What a tool answered: either `result` or `error`."""

    type: Literal["tool_result"]
    call_id: Line
    result: AnyJson = None
    error: AnyJson = Field(None, description="Any JSON value but null: the call failed.")
    receipt: AnyJson = Field(None, description="What the other side calls it, such as a Message-ID.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if {"result", "error"} <= self.model_fields_set:
            raise wrong("both", "Send either result or error, not both.", field="error")
        if not {"result", "error"} & self.model_fields_set:
            raise wrong("neither", "Send either result or error.", field="result")
        _refuse_empty_error(self)
        return self

    def _rest(self) -> dict[str, Any]:
        return {
            "call_id": self.call_id,
            "is_error": "error" in self.model_fields_set,
            "content": self._given("result", "error", "receipt"),
        }


class NodeStarted(_Event):
    """A step of the agent's graph began."""

    type: Literal["node_started"]
    name: Line | None = None
    data: dict[str, Any] | None = None

    def _rest(self) -> dict[str, Any]:
        return {"name": self.name, "content": self._given("data")}


class NodeFinished(NodeStarted):
    """A step of the agent's graph ended."""

    type: Literal["node_finished"]  # type: ignore[assignment]


class Ended(_Event):
    """The run is over."""

    type: Literal["ended"]
    outcome: Literal["completed", "failed", "cancelled"]
    error: AnyJson = Field(None, description="Why, if not completed: any JSON value but null.")

    @model_validator(mode="after")
    def _says_why(self) -> Self:
        _refuse_empty_error(self)
        return self

    def _rest(self) -> dict[str, Any]:
        return {"outcome": self.outcome, "content": self._given("error")}


def _refuse_empty_error(event: ToolResult | Ended) -> None:
    if "error" in event.model_fields_set and event.error is None:
        raise wrong("empty_error", "An error must not be null.", field="error")


Event = Annotated[
    Heartbeat | Message | ToolCall | ToolResult | NodeStarted | NodeFinished | Ended,
    Field(discriminator="type"),
]


class EventsIn(Body):
    """Some events of one run, in any order; `seq` says where each belongs."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "events": [
                        {
                            "seq": 1,
                            "type": "tool_call",
                            "at": "2026-05-04T13:30:00Z",
                            "call_id": "call-1",
                            "name": "send_email",
                            "args": {"to": "ann@shop.example"},
                        },
                        {
                            "seq": 2,
                            "type": "tool_result",
                            "at": "2026-05-04T13:30:01Z",
                            "call_id": "call-1",
                            "result": {"status": "sent"},
                            "receipt": "<1@shop.example>",
                        },
                        {"seq": 3, "type": "ended", "at": "2026-05-04T13:30:02Z", "outcome": "completed"},
                    ]
                }
            ]
        }
    )

    events: list[Event] = Field(min_length=1, max_length=MOST_EVENTS)


class EventsTaken(BaseModel):
    """What became of them. Send on from `next_seq`, the lowest number that is missing."""

    accepted: int
    duplicates: int
    next_seq: int
