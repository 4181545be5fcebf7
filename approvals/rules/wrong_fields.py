"""What is wrong with a body that a schema refused: the field as a path, and a sentence."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

MISSING = "This is missing."
# Our words for what goes wrong most; a member of the error's context stands in braces.
_WORDS = {
    "missing": MISSING,
    "extra_forbidden": "There is no such field here.",
    "string_type": "This must be text.",
    "string_too_short": "This must not be empty.",
    "string_too_long": "This must not be longer than {max_length} characters.",
    "int_type": "This must be a whole number.",
    "int_parsing": "This must be a whole number.",
    "greater_than_equal": "This must be at least {ge}.",
    "less_than_equal": "This must be at most {le}.",
    "list_type": "This must be a list.",
    "dict_type": "This must be an object.",
    "model_type": "This must be an object.",
    "model_attributes_type": "This must be an object.",
    "too_long": "This must not have more than {max_length} entries.",
    "too_short": "This must have at least {min_length} entry.",
    "literal_error": "This must be {expected}.",
    "union_tag_not_found": MISSING,
    "union_tag_invalid": "This must be one of {expected_tags}.",
}


def field_of(error: Mapping[str, Any], steps: Sequence[str | int]) -> str | None:
    """The path of what one of pydantic's errors is about; `steps` are its `loc` without what only our schemas know."""
    if steps and steps[-1] == "[key]":
        steps = steps[:-1]
    if error["type"].startswith("union_tag"):
        steps = [*steps, "type"]
    if named := error.get("ctx", {}).get("field"):
        steps = [*steps, named]
    return path_of(steps)


def path_of(steps: Sequence[str | int]) -> str | None:
    """Where a value stands in a body, such as `events[2].call_id`; None for the body itself."""
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step.isidentifier():
            path += f".{step}"
        else:
            path += f"[{json.dumps(step if len(step) <= 200 else step[:197] + '...')}]"
    return path.removeprefix(".") or None


def words_of(error: Mapping[str, Any]) -> str:
    """The sentence about one of pydantic's errors."""
    words = _WORDS.get(error["type"])
    return words.format(**error.get("ctx", {})) if words else f"{str(error['msg']).rstrip('.')}."
