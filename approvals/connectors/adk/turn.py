"""What an item of a stream says for the rules about turns."""

from collections.abc import Mapping
from typing import Any

from approvals.connectors.adk.orders import Closed, ErrorFrame, StreamItem, Told
from approvals.rules.turns import Attempt, Call

# Calls that ADK makes up to ask a person; the call that they are about has been shown before.
ASKING = ("adk_request_confirmation", "adk_request_credential", "adk_request_input")
_OTHER_CONTENT = ("inlineData", "fileData", "executableCode", "codeExecutionResult")


def note(attempt: Attempt, item: StreamItem) -> None:
    """Add what the item shows to the attempt."""
    if isinstance(item, Told):
        _note_event(attempt, item.event)
    elif isinstance(item, ErrorFrame):
        kind = _text(item.details.get("error_type"))
        attempt.fail(kind, item.text, "\n".join(str(value) for value in item.details.values()))
    elif isinstance(item, Closed) and item.kind == "ended":
        attempt.end()


def _note_event(attempt: Attempt, event: Mapping[str, Any]) -> None:
    attempt.come()
    writer = f"{event.get('author')}/{event.get('branch')}"
    partial = event.get("partial") is True
    parts = [part for part in _list(_dict(event.get("content")).get("parts")) if isinstance(part, dict)]
    of_model = bool(parts or "finishReason" in event) and not any(
        "functionResponse" in part for part in parts
    )
    if of_model and not partial:
        attempt.finish(writer)
    words = False
    for part in parts:
        if call := _dict(part.get("functionCall")):
            _note_call(attempt, call, event, writer if partial else None)
        elif answer := _dict(part.get("functionResponse")):
            _note_answer(attempt, answer, _dict(event.get("actions")))
        else:
            words = words or _shows(part)
    if words or (of_model and not any("functionCall" in part for part in parts)):
        attempt.say(words=words)
    if event.get("errorCode") or event.get("errorMessage"):
        attempt.fail(_text(event.get("errorCode")), _text(event.get("errorMessage")))


def _note_call(
    attempt: Attempt, given: dict[str, Any], event: Mapping[str, Any], partial_of: str | None
) -> None:
    call = Call(_text(given.get("id")), _text(given.get("name")))
    if call.name in ASKING:
        attempt.hold()
        return
    attempt.call(call, partial_of=partial_of)
    if call.id in _list(event.get("longRunningToolIds")):
        attempt.hold()


def _note_answer(attempt: Attempt, given: dict[str, Any], actions: dict[str, Any]) -> None:
    call = Call(_text(given.get("id")), _text(given.get("name")))
    asked = (*_dict(actions.get("requestedToolConfirmations")), *_dict(actions.get("requestedAuthConfigs")))
    if call.name in ASKING or call.id in asked:
        attempt.hold()  # a placeholder: the call itself has not been let go ahead
    else:
        attempt.answer(call, last=actions.get("skipSummarization") is True)


def _shows(part: dict[str, Any]) -> bool:
    """Whether a part is something to show to a person: words that are no thoughts, or a file."""
    if part.get("thought"):
        return False
    return bool(_text(part.get("text")).strip()) or any(part.get(key) for key in _OTHER_CONTENT)


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
