"""What the campaign page is asked for in its address, and what is typed into its forms."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import QueryDict

from approvals.exceptions import Invalid
from dashboard.forms import keys, queue
from dashboard.forms.listed import LONGEST_QUERY, ListForm, parse, words

MOST_DELIVERIES = 200  # that one form settles
_LONGEST_ADDRESS = 254


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose message is shown, how far into each list, and the queue's own query for the way back.

    `to` is a delivery's id or an address as somebody typed it; `note` says what could not be read. `compare`: however
    long the list is.
    """

    to: str = ""
    excluded: int = 0
    in_doubt: int = 0
    failed: int = 0
    back: str = ""
    compare: str = ""
    note: str = ""

    @property
    def delivery_id(self) -> UUID | None:
        """The delivery that `to` names, if it names one."""
        try:
            return UUID(self.to)
        except ValueError:
            return None


class PageForm(ListForm):
    """The fields of the address."""

    to = words("Recipient", length=_LONGEST_ADDRESS)
    excluded = words("Place in the excluded")
    in_doubt = words("Place in those in doubt")
    failed = words("Place in those that failed")
    back = words("Way back", length=LONGEST_QUERY)
    compare = words("Comparison", length=10)

    def clean_excluded(self) -> int:
        """The position behind which the excluded start."""
        return _position(self.cleaned_data["excluded"])

    def clean_in_doubt(self) -> int:
        """The position behind which those in doubt start."""
        return _position(self.cleaned_data["in_doubt"])

    def clean_failed(self) -> int:
        """The position behind which those that failed start."""
        return _position(self.cleaned_data["failed"])


def read(data: QueryDict | Mapping[str, Any]) -> Asked:
    """What the address asks for, whatever stands in it."""
    form = PageForm(data)
    values = form.asked()
    way_back = queue.read_query(values["back"])
    return Asked(
        to=values["to"],
        excluded=values["excluded"] or 0,
        in_doubt=values["in_doubt"] or 0,
        failed=values["failed"] or 0,
        back=queue.address(way_back.wanted, after=way_back.after),
        compare="now" if values["compare"] else "",
        note=form.note(),
    )


def read_next(data: QueryDict) -> Asked:
    """What the page asked for on which a form was sent: of its field `next` only what a page is asked for counts."""
    try:
        return read(parse(urlsplit(data.get("next", "")).query))
    except ValueError:
        return Asked()


def address(asked: Asked, **changes: str | int) -> str:
    """The query of the address that asks for this, with these changes."""
    wanted = replace(asked, **changes)  # type: ignore[arg-type]
    fields = {name: getattr(wanted, name) for name in PageForm.base_fields}
    return urlencode({name: value for name, value in fields.items() if value})


def kept(asked: Asked) -> tuple[tuple[str, str], ...]:
    """The fields of the address that a form on the page sends along, so that the next page is about the same."""
    return tuple(
        (name, value)
        for name in ("to", "back", "compare")
        if isinstance(value := getattr(asked, name), str) and value
    )


def deliveries_of(data: QueryDict) -> list[UUID]:
    """The deliveries that were ticked, each once; Invalid for none, too many, or something else."""
    given = list(dict.fromkeys(data.getlist("delivery")))
    if not given:
        raise Invalid("delivery", "Tick at least one.")
    if len(given) > MOST_DELIVERIES:
        raise Invalid("delivery", f"Settle at most {MOST_DELIVERIES} at once.")
    try:
        return [UUID(one) for one in given]
    except ValueError:
        raise Invalid("delivery", "One of them could not be read; reload the page and tick again.") from None


def _position(text: str) -> int:
    try:
        return min(keys.read_number(text), 2**31 - 1) if text else 0
    except ValueError as error:
        raise ValidationError("this is the beginning instead") from error
