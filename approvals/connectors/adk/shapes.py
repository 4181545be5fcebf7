"""The shapes of ADK's events: keys in either spelling, values that may be missing, and JSON that nobody vouches for."""

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

MAX_DEPTH = 64  # levels of nesting; more is not read
NAMELESS = "(no name)"
LONGEST_NAME = 200  # characters of the name of a tool; the rest is cut off
LONGEST_ID = 400  # characters of an id; these have to be whole, so what has a longer one is not read

_LONGEST_WHOLE = 18  # digits that fit into 64 bits whatever they are
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # neither text nor jsonb of Postgres takes these

# Structural keys as streamed, by which the reading below calls them: those that are stored.
_SNAKE: Final = {
    "invocationId": "invocation_id",
    "errorCode": "error_code",
    "errorMessage": "error_message",
    "modelVersion": "model_version",
    "customMetadata": "custom_metadata",
    "nodeInfo": "node_info",
    "requestedToolConfirmations": "requested_tool_confirmations",
    "endOfAgent": "end_of_agent",
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "executableCode": "executable_code",
    "codeExecutionResult": "code_execution_result",
    "toolCall": "tool_call",
    "toolResponse": "tool_response",
    "toolType": "tool_type",
    "inlineData": "inline_data",
    "fileData": "file_data",
    "mimeType": "mime_type",
    "fileUri": "file_uri",
    "displayName": "display_name",
    "thoughtSignature": "thought_signature",
    "videoMetadata": "video_metadata",
    "mediaResolution": "media_resolution",
    "mediaProcessing": "media_processing",
    "partMetadata": "part_metadata",
    "speechMetadata": "speech_metadata",
    "audioTranscription": "audio_transcription",
}
# Inside these, keys are what somebody wrote, and stay.
_OPAQUE = frozenset(("args", "response", "part_metadata", "partMetadata"))


class Unreadable(ValueError):
    """Why an event cannot be read, as one plain sentence."""


def event_in(data: object) -> dict[str, Any]:
    """An event as an object with the keys as stored; Unreadable where it is none."""
    if not isinstance(data, dict):
        raise Unreadable("It holds no event." if data is None else "It is not an object.")
    return known(data)


def known(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """A structural object with its keys as they are stored."""
    return {_SNAKE.get(key, key): value for key, value in mapping.items()}


def object_in(mapping: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object under a key, empty where there is none; Unreadable where it is something else."""
    value = mapping.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Unreadable(f"Its {key} is not an object.")
    return value


def inner(part: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    """The object under a key of a part, with the keys as stored; None where there is none."""
    if part.get(key) is None:
        return None
    return known(object_in(part, key)) or {"id": None}  # an empty one is one all the same


def parts_in(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The parts of a content; Unreadable where they are no list of objects."""
    parts = content.get("parts")
    if parts is None:
        return []
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise Unreadable("Its parts are not a list of objects.")
    return [known(part) for part in parts]


def word_in(mapping: Mapping[str, Any], key: str) -> str:
    """The text under a key that has to be there, short enough for an index; else Unreadable."""
    value = mapping.get(key)
    if not isinstance(value, str) or not value:
        raise Unreadable(f"It has no {key}.")
    if len(value) > LONGEST_ID:
        raise Unreadable(f"Its {key} is longer than {LONGEST_ID} characters.")
    return value


def id_of(call: Mapping[str, Any], made_id: str) -> str:
    """The id of a call or answer, `made_id` where it has none; Unreadable for one that no index could hold."""
    value = call.get("id")
    if isinstance(value, str) and len(value) > LONGEST_ID:
        raise Unreadable(f"It has a call whose id is longer than {LONGEST_ID} characters.")
    return value if isinstance(value, str) and value else made_id


def name_of(call: Mapping[str, Any], key: str) -> str:
    """The name of a tool under a key, NAMELESS where it has none."""
    value = call.get(key)
    if not isinstance(value, str) or not value:
        return NAMELESS
    return value if len(value) <= LONGEST_NAME else f"{value[: LONGEST_NAME - 1]}…"


def args_of(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a call, empty where there are none."""
    return object_in(call, "args")


def time_of(seconds: object) -> datetime | None:
    """Seconds since 1970 in UTC as a time; None for anything else."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def camel(value: Any) -> Any:
    """Content as POST /run_sse takes it: structural keys in camelCase, and what somebody wrote left alone."""
    if isinstance(value, list):
        return [camel(item) for item in value]
    if isinstance(value, dict):
        return {_camel_key(key): item if key in _OPAQUE else camel(item) for key, item in value.items()}
    return value


def _camel_key(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(word.capitalize() for word in rest)


def load(text: str) -> Any:
    """The value of a JSON text, with numbers nobody could store as texts; raises Unreadable."""
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise Unreadable(f"It is nested more than {MAX_DEPTH} levels deep.") from None
    except ValueError:
        raise Unreadable("It is not valid JSON.") from None


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) <= _LONGEST_WHOLE else digits


def _fraction(digits: str) -> float | str:
    return number if math.isfinite(number := float(digits)) else digits


# Numbers that no double or 64-bit integer holds become texts, so that all that was read can be written again.
_DECODER = json.JSONDecoder(parse_int=_whole, parse_float=_fraction, parse_constant=str)


def cleaned(value: Any, left: int = MAX_DEPTH) -> Any:
    """A parsed JSON value with everything replaced that JSON or Postgres would not take again."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -(2**63) <= value < 2**63 else _digits(value)
    if isinstance(value, list | dict) and not left:
        raise Unreadable(f"It is nested more than {MAX_DEPTH} levels deep.")
    if isinstance(value, list):
        return [cleaned(item, left - 1) for item in value]
    if isinstance(value, dict):
        return {cleaned(key): cleaned(item, left - 1) for key, item in value.items()}
    return value


def _digits(number: int) -> str:
    try:
        return str(number)
    except ValueError:  # thousands of digits
        return hex(number)
