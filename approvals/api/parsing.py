"""Reading what was sent: strict JSON, and a query string that says each thing once."""

from typing import Any

from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja.parser import Parser

from approvals.api.problems import TOO_BIG
from approvals.exceptions import Invalid, Refusal
from approvals.rules import strict_json

MOST_BYTES = 5 * 1024 * 1024 + 64 * 1024  # 5 MB of events, and their envelope


class StrictParser(Parser):
    """Reads bodies with rules.strict_json; the schemas judge what the value means."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The JSON value of the body; BadJson, or a Refusal for another type or too many bytes."""
        if request.content_type != "application/json":
            raise Refusal(
                "Send the body as JSON, with the header Content-Type: application/json.",
                code="unsupported_media_type",
                status=415,
            )
        if len(request.body) > MOST_BYTES:
            raise TOO_BIG
        return strict_json.loads(request.body)

    def parse_querydict(
        self, data: MultiValueDict[str, Any], list_fields: list[str], request: HttpRequest
    ) -> dict[str, Any]:
        """The parameters; Invalid for one that is given twice."""
        for name in data:
            if len(data.getlist(name)) > 1:
                raise Invalid(name, "Give this once.")
        return super().parse_querydict(data, list_fields, request)
