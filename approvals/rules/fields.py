"""The kinds of values that a body may hold, each with its limit: what is checked is what the OpenAPI document says."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from approvals.rules.addresses import check_header

SHORT = 200  # characters of a name or an identifier
LONG = 400  # characters of a header field of a mail
NOTE = 4_000  # characters of a text that explains
TEXT = 1_000_000  # characters of a message
LAST_SEQ = 2_000_000_000

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_FIRST_YEAR, _LAST_YEAR = 1970, 2999


class Body(BaseModel):
    """A JSON object of which every member is known, and has exactly its type."""

    model_config = ConfigDict(extra="forbid", strict=True)


def wrong(code: str, text: str, *, field: str | None = None) -> PydanticCustomError:
    """A value that cannot be accepted; `field` names a member of the object that is at fault."""
    return PydanticCustomError(code, "{text}", {"text": text, "field": field})


def _one_line(text: str) -> str:
    if not text.strip():
        raise wrong("blank", "This needs at least one character that is not a space.")
    if reason := check_header(text):
        raise wrong("control_character", reason)
    return text


def _time(value: Any) -> datetime:
    text = value if isinstance(value, str) else ""
    if _TIME.fullmatch(text):
        try:
            at = datetime.fromisoformat(text)
            if _FIRST_YEAR <= at.year <= _LAST_YEAR:
                return at.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    raise wrong(
        "time",
        "Write a time as ISO 8601 with its zone, such as 2026-05-04T13:30:00Z,"
        f" of the years {_FIRST_YEAR} to {_LAST_YEAR}.",
    )


def _uuid(value: Any) -> UUID:
    if isinstance(value, str) and _UUID.fullmatch(value):
        return UUID(value)
    raise wrong("uuid", "This is not an id as this API gives them out.")


def _one_line_schema(most: int) -> WithJsonSchema:
    return WithJsonSchema(
        {
            "type": "string",
            "minLength": 1,
            "maxLength": most,
            "pattern": r"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$",
            "description": "One line of text without control characters.",
        }
    )


Line = Annotated[
    str, Field(min_length=1, max_length=SHORT), AfterValidator(_one_line), _one_line_schema(SHORT)
]
HeaderLine = Annotated[
    str, Field(min_length=1, max_length=LONG), AfterValidator(_one_line), _one_line_schema(LONG)
]
Note = Annotated[str, Field(max_length=NOTE)]
Text = Annotated[str, Field(max_length=TEXT)]
Time = Annotated[
    datetime,
    BeforeValidator(_time),
    WithJsonSchema(
        {
            "type": "string",
            "format": "date-time",
            "description": "ISO 8601 with a zone.",
            "examples": ["2026-05-04T13:30:00Z"],
        }
    ),
]
Id = Annotated[UUID, BeforeValidator(_uuid), WithJsonSchema({"type": "string", "format": "uuid"})]
Seq = Annotated[
    int,
    Field(ge=1, le=LAST_SEQ, description="The event's number in its run: 1, 2, 3 and so on."),
]
AnyJson = Annotated[Any, WithJsonSchema({"description": "Any JSON value."})]
