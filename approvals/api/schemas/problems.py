"""The form of every refusal."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from approvals.api.problems import CONTENT_TYPE


class FieldProblem(BaseModel):
    """One field that is at fault."""

    field: str | None
    text: str


class Problem(BaseModel):
    """application/problem+json (RFC 9457). `code` is stable, `detail` may be improved; some codes bring more."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "type": "about:blank",
                    "title": "Unprocessable Entity",
                    "status": 422,
                    "code": "invalid",
                    "detail": "This must not be longer than 200 characters.",
                    "field": "events[0].call_id",
                }
            ]
        },
    )

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    field: str | None = None
    errors: list[FieldProblem] | None = None


SCHEMA_PATH = "#/components/schemas/{model}"

_SAID: dict[int, str] = {
    400: "The body is not strict JSON (`bad_json`): UTF-8, at most 64 levels deep, no key twice, no NaN, no NUL.",
    401: "No token, or one that is unknown or revoked (`unauthenticated`).",
    403: "This token may not do this (`not_allowed`).",
    404: "Nothing that this token may see (`not_found`); what belongs to others looks the same as what does not exist.",
    409: "It conflicts with what is already there.",
    411: "The body is sent in chunks, without its length (`length_required`).",
    413: "The body is larger than 5 MB (`too_large`).",
    415: "The body is not sent as application/json (`unsupported_media_type`).",
    422: "A field is missing, unknown, or cannot be accepted (`invalid`); `field` names it.",
    500: "Something went wrong here (`internal`); send the same again later.",
    503: "Something this needs is not there right now (`unavailable`); send the same again in a moment.",
}


def refusals(*statuses: int, **said: str) -> dict[str, Any]:
    """The OpenAPI responses of an operation that may refuse with these statuses; `said` overrides: `s409="..."`."""
    content = {CONTENT_TYPE: {"schema": {"$ref": SCHEMA_PATH.format(model="Problem")}}}
    return {
        "responses": {
            str(status): {"description": said.get(f"s{status}", _SAID[status]), "content": content}
            for status in sorted({401, 500, 503, *statuses})
        }
    }


WITH_BODY = (400, 411, 413, 415, 422)
