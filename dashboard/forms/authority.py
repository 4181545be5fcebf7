"""What somebody asks about on the page *Who allowed this?*, as the address holds it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from approvals.selectors.authority import LONGEST
from dashboard.forms.listed import ListForm, words


@dataclass(frozen=True, slots=True)
class Asked:
    """The words, and what of them could not be used."""

    query: str
    note: str = ""


class AuthorityForm(ListForm):
    """The one field of the address."""

    q = words("Search", length=LONGEST)


def read(data: QueryDict | Mapping[str, Any]) -> Asked:
    """What the address asks for."""
    form = AuthorityForm(data)
    return Asked(form.asked()["q"], form.note())
