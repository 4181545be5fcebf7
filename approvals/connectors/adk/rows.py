"""One event of Google ADK, as its database stores it (snake_case) or its stream sends it (camelCase), as a Row.

Pure. Versions 1.39 to 2.13; where a rule follows ADK's own sources, the file that says so is named beside it.
What an agent writes never stops the reading: what cannot be stored is replaced, what cannot be read is a finding.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from approvals.connectors.adk.shapes import (
    MAX_DEPTH,
    Unreadable,
    args_of,
    camel,
    cleaned,
    event_in,
    id_of,
    inner,
    known,
    load,
    name_of,
    object_in,
    parts_in,
    time_of,
    word_in,
)
from approvals.rules.observed import Line, Row

CONFIRMATION = "adk_request_confirmation"  # flows/llm_flows/functions.py; 2.13: utils/_function_call_names.py
CREDENTIAL = "adk_request_credential"  # its arguments and its answer hold secrets, which nobody here needs
CODE = "code_execution"
ABORTED_CODE = "INVOCATION_ABORTED"  # 2.13: events/_abort_events.py
ABORTED = {"error": "Invocation was aborted by client."}  # the same file
REJECTED = {"error": "This tool call is rejected."}  # tools/function_tool.py, mcp_tool.py, bash_tool.py
RESTORED = "__adk_internal_restored_event"  # 2.13: events/_internal_metadata.py
# What a part may be of that is no call: google.genai types.Part.
_PLAIN_PARTS = frozenset({"text", "thought", "thought_signature", "part_metadata", "video_metadata"})
_PLAIN_PARTS |= {"media_resolution", "media_processing", "speech_metadata", "audio_transcription"}


def stored_row(
    text: str | None, *, event_id: str, invocation_id: str, at: datetime, digest: bytes | None
) -> Row:
    """The Row of one line of `events`: `text` is its event_data, the rest its columns and its SHA-256.

    The time is the event's own, since 1.39 fills the column in the service's own time zone (sessions/schemas/v1.py);
    `at`, in UTC, stands in for it. Never raises: what cannot be read has a finding as its only line.
    """
    try:
        data = load(text or "null")
        if text and text.count("{") + text.count("[") > MAX_DEPTH:
            cleaned(data)  # raises where it is too deep; what jsonb holds needs no other cleaning
        event = event_in(data)
        at = time_of(event.get("timestamp")) or at
        return _Reading(event, event_id, invocation_id, at, digest).row()
    except Unreadable as error:
        return unreadable_row(
            str(error), event_id=event_id, invocation_id=invocation_id, at=at, digest=digest
        )


def streamed_row(event: object) -> Row:
    """The Row of one event of a stream, as parsed from JSON. Its time is the event's, or now. Never raises."""
    event_id = invocation_id = ""
    at = datetime.now(UTC)
    try:
        fields = event_in(cleaned(event))
        at = time_of(fields.get("timestamp")) or at
        event_id, invocation_id = (word_in(fields, key) for key in ("id", "invocation_id"))
        return _Reading(fields, event_id, invocation_id, at, None).row()
    except Unreadable as error:
        return unreadable_row(str(error), event_id=event_id, invocation_id=invocation_id, at=at, digest=None)


def unreadable_row(
    detail: str, *, event_id: str, invocation_id: str, at: datetime, digest: bytes | None
) -> Row:
    """The Row of an event that is there and cannot be read: one finding, with `detail` as its sentence."""
    finding = Line(type="finding", at=at, origin="unreadable", content={"detail": detail})
    return Row(event_id=event_id, invocation_id=invocation_id, at=at, digest=digest, lines=(finding,))


class _Reading:
    """The reading of one event: part by part into lines, then what the whole of it means."""

    def __init__(
        self, event: Mapping[str, Any], event_id: str, invocation_id: str, at: datetime, digest: bytes | None
    ) -> None:
        self.event, self.event_id, self.invocation_id, self.at = event, event_id, invocation_id, at
        self.digest = digest
        self.actions = known(object_in(event, "actions"))
        self.author = word_in(event, "author")
        self.by_user = self.author == "user"
        self.partial = bool(event.get("partial"))
        self.error_code = event.get("error_code")
        restored = bool(object_in(event, "custom_metadata").get(RESTORED))
        self.origin = "restored" if restored else "live"
        self.confirming = object_in(self.actions, "requested_tool_confirmations")
        self.waiting = bool(self.confirming)
        self.lines: list[Line] = []
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.files: list[str] = []
        self.said: list[str] = []  # how a person answered requests for confirmation
        self.answers: list[str] = []
        self.open_code: list[str] = []
        self.goes_on = False  # a function was called or has answered: the agent speaks again
        self.ends_in_code = False

    def row(self) -> Row:
        """All of it; raises Unreadable."""
        content = object_in(self.event, "content")
        parts = parts_in(content)
        for index, part in enumerate(parts):
            self._part(part, f"{self.event_id}#{index}")
        message = self._message()
        ends, proven = self._end()
        return Row(
            event_id=self.event_id,
            invocation_id=self.invocation_id,
            at=self.at,
            digest=self.digest,
            lines=(message, *self.lines) if message else tuple(self.lines),
            input=camel(content) if self._is_input(parts) else None,
            answers=tuple(self.answers),
            ends=ends,
            proven=proven,
            marks_session=self.origin == "restored",
        )

    def _part(self, part: Mapping[str, Any], made_id: str) -> None:
        """Read one part; `made_id` is the id of a call that has none."""
        self.ends_in_code = part.get("code_execution_result") is not None
        if (text := part.get("text")) is not None:
            if not isinstance(text, str):
                raise Unreadable("It has a text that is no text.")
            (self.thoughts if part.get("thought") else self.texts).append(text)
        elif call := inner(part, "function_call"):
            self._call(call, made_id)
        elif response := inner(part, "function_response"):
            self._response(response, made_id)
        elif file := inner(part, "inline_data") or inner(part, "file_data"):
            names = (file.get(key) for key in ("display_name", "file_uri", "mime_type"))
            self.files.append(next((name for name in names if name and isinstance(name, str)), "file"))
        elif not self._ran_elsewhere(part, made_id) and any(
            value is not None and key not in _PLAIN_PARTS for key, value in part.items()
        ):
            raise Unreadable("It has a part of a kind that is not known here, which may be a call.")

    def _ran_elsewhere(self, part: Mapping[str, Any], made_id: str) -> bool:
        """Read a part about code, or about a tool that runs at the model's provider; whether it was one."""
        if code := inner(part, "executable_code"):
            args = {key: code[key] for key in ("language", "code") if code.get(key) is not None}
            self.open_code.append(id_of(code, made_id))
            self._add_call(self.open_code[-1], CODE, args)
        elif result := inner(part, "code_execution_result"):
            self._code_result(result, made_id)
        elif call := inner(part, "tool_call"):
            self._add_call(id_of(call, made_id), name_of(call, "tool_type"), args_of(call))
        elif response := inner(part, "tool_response"):
            self._add_result(
                id_of(response, made_id), name_of(response, "tool_type"), response.get("response")
            )
        else:
            return False
        return True

    def _call(self, call: Mapping[str, Any], made_id: str) -> None:
        call_id, name, args = id_of(call, made_id), name_of(call, "name"), args_of(call)
        original = args.get("originalFunctionCall") if name == CONFIRMATION else None
        if isinstance(original, dict) and (held := id_of(original, "")):
            asked = args.get("toolConfirmation")
            hint = asked.get("hint") if isinstance(asked, dict) else None
            confirmation = {"id": call_id, "hint": hint if isinstance(hint, str) else ""}
            content = {"confirmation": confirmation}
            self._add("tool_result", held, name_of(original, "name"), content, outcome="awaiting")
            self.waiting = True
            return
        self._add_call(call_id, name, {} if name == CREDENTIAL else args)
        self.goes_on = True

    def _response(self, response: Mapping[str, Any], made_id: str) -> None:
        call_id, name, result = id_of(response, made_id), name_of(response, "name"), response.get("response")
        self.goes_on = True
        if self.by_user:
            self.answers.append(call_id)
        if name == CONFIRMATION:
            if self.by_user:
                self.said.append(_verdict(result))
            else:  # 2.13 seals a request whose client went away: it waits for nobody any more
                self.answers.append(call_id)
        elif call_id not in self.confirming:  # else it only holds the place of the answer
            self._add_result(call_id, name, None if name == CREDENTIAL else result)

    def _code_result(self, result: Mapping[str, Any], made_id: str) -> None:
        """Add what came of code; its call is the one it names, or the last one before it in this event.

        Code that ADK runs itself has its result in an event of its own and no ids (flows/llm_flows/_code_execution.py):
        such a result names no call, and answers the open one of that name (observed.end_of).
        """
        call_id = id_of(result, self.open_code.pop() if self.open_code else made_id)
        output, outcome = result.get("output"), result.get("outcome")
        failed = outcome not in (None, "OUTCOME_OK", "OUTCOME_UNSPECIFIED")
        self._add_result(call_id, CODE, {"error": output or outcome} if failed else output)

    def _add_call(self, call_id: str, name: str, args: Mapping[str, Any]) -> None:
        partial = {"partial": True} if self.partial else {}
        self._add("tool_call", call_id, name, {"args": args} | partial)

    def _add_result(self, call_id: str, name: str, result: object) -> None:
        failed = isinstance(result, dict) and result.keys() == {"error"} and bool(result["error"])
        outcome = None
        if self.by_user:
            outcome = "supplied"
        elif self.error_code == ABORTED_CODE or result == ABORTED:
            outcome = "aborted"
        elif result == REJECTED:
            outcome = "rejected"
        content = result if failed and isinstance(result, dict) else {"result": result}
        self._add("tool_result", call_id, name, content, outcome=outcome, is_error=failed)

    def _add(
        self,
        kind: str,
        call_id: str,
        name: str,
        content: dict[str, Any],
        *,
        outcome: str | None = None,
        is_error: bool = False,
    ) -> None:
        line = Line(
            type=kind,
            at=self.at,
            call_id=call_id,
            name=name,
            outcome=outcome,
            is_error=is_error,
            origin=self.origin,
            content=content,
        )
        if not self.partial or kind == "tool_call":
            self.lines.append(line)

    def _message(self) -> Line | None:
        """What was said in it, thought, sent along, or went wrong, as one line; None for a part of a stream."""
        message, code = self.event.get("error_message"), self.error_code
        wrong = code is not None or message is not None
        if self.partial or not (self.texts or self.said or self.thoughts or self.files or wrong):
            return None
        content: dict[str, Any] = {"text": "".join(self.texts) or "\n".join(self.said), "author": self.author}
        if model := self.event.get("model_version"):
            content["model"] = model
        if self.thoughts:
            content["thought"] = "".join(self.thoughts)
        if self.files:
            content["files"] = self.files
        if wrong:
            content["error"] = {"code": code, "message": message}
        return Line(type="message", at=self.at, origin=self.origin, content=content)

    def _is_input(self, parts: list[Mapping[str, Any]]) -> bool:
        sent = any(
            value is not None for part in parts for key, value in part.items() if key != "function_response"
        )
        return sent and self.by_user and not self.partial

    def _end(self) -> tuple[Literal["completed", "failed", "waiting"] | None, bool]:
        """(how a run stands of which this is the last row, whether the row itself says that it is over).

        Proof is `end_of_agent` of the root agent alone. Resumable apps write it as an event of its own after the last
        word (agents/base_agent.py `_create_agent_state_event`, called at the end of llm_agent.py `_run_async_impl`,
        and by sequential, parallel and loop agents and, since 2.0, workflow/_workflow.py). Every agent writes one, so
        only a node path of one component ("support@1") is the root's. 1.39 stores no path, and an author's name does
        not tell who is the root: no proof there. In 2.13 a root that hands over to another agent has its mark written
        before that one speaks (workflow/_llm_agent_wrapper.py), which `observed.end_of` knows of.

        Apps that are not resumable, which is the default, write no mark in any version: there the last word is a
        final answer by the rule of events/event.py `is_final_response`, and a text; it proves nothing, because an
        agent of several steps says one after the other. Nor do errors prove the end: 2.13 writes them as the last
        event of a run that raised (runners.py), and models report them in events of their own (llm_response.py). An
        abort is such an error, and may come as several events.
        """
        if self.partial or self.by_user:
            return None, False
        if self.error_code is not None:
            return "failed", False
        if self.waiting:
            return "waiting", False
        path = object_in(self.event, "node_info").get("path")
        if self.actions.get("end_of_agent"):
            root = isinstance(path, str) and bool(path) and "/" not in path
            return ("completed", True) if root else (None, False)
        told = bool("".join(self.texts).strip() or self.files)
        goes_on = self.goes_on or self.ends_in_code or self.open_code or self.event.get("interrupted")
        return ("completed" if told and not goes_on else None), False


def _verdict(response: object) -> str:
    """How a person answered; ADK also takes the answer as JSON text under `response` (request_confirmation.py)."""
    if isinstance(response, dict) and isinstance(response.get("response"), str):
        try:
            response = json.loads(response["response"])
        except (ValueError, RecursionError):
            response = None
    confirmed = response.get("confirmed") if isinstance(response, dict) else None
    return {True: "confirmed", False: "rejected"}[confirmed] if isinstance(confirmed, bool) else "answered"
