"""Sample objects for the pages of lists of recipients, and of who is not to be written to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.http import QueryDict

from approvals.access.actors import Actor
from approvals.models import Dataset
from approvals.selectors.datasets import RowFound
from approvals.selectors.suppressions import Listed
from dashboard.forms import datasets as forms
from dashboard.forms import suppressions as suppression_forms
from dashboard.presenters.build_datasets import list_page, lists_page
from dashboard.presenters.build_suppressions import suppressions_page
from dashboard.presenters.places import Places
from tests.templates.samples import HOSTILE, NOW

PLACES = Places("northwind")
REVIEWER = Actor("member", "1", "Mia Berg", ("reviewer",), "password")


def _list(number: int, name: str, **columns: Any) -> Dataset:
    given = {
        "id": UUID(int=number), "name": name, "sha256": "ab" * 32, "size": 48_211_907, "encoding": "utf-8",
        "delimiter": ";", "columns": ["email", "first_name", HOSTILE], "address_column": "email",
        "by_name": f"Mia {HOSTILE}", "created_at": NOW - timedelta(hours=number),
    }  # fmt: skip
    return Dataset(**given | columns)


GOING_ON = _list(
    1, f"spring {HOSTILE}.csv", total=1_000_000, addressable=312_000, duplicate=2_400, refused=600, formulas=3,
    lease_until=NOW,
)  # fmt: skip
OVER = _list(
    2, "winter.csv", total=10_000, addressable=9_800, duplicate=120, suppressed=30, refused=50,
    ended_at=NOW - timedelta(hours=1),
)  # fmt: skip
FAILED = _list(
    3, "broken.csv", trouble="Row 812: a quote is opened and never closed.", ended_at=NOW - timedelta(hours=2)
)
WAITING = _list(4, "later.csv", notice="The file cannot be fetched from the storage now.")
ROWS = [
    RowFound(2, "ann@example.com", "ann@example.com", {"first_name": "Ann"}, "addressable", "", False),
    RowFound(3, f"Bob {HOSTILE} <BOB@example.com>", "BOB@example.com", {"x": f"=1+1 {HOSTILE}"}, "addressable", "", True),
    RowFound(4, "ann@example.com", "ann@example.com", {}, "duplicate",
             "The same address as row 2, which stands for both.", False),
    RowFound(5, f"nobody {HOSTILE}", "", {}, "refused", f"Column “{HOSTILE}”: The address has no @.", False),
]  # fmt: skip


def _lists(form: Any, *lists: Dataset, refused: str = "") -> Any:
    return lists_page(
        places=PLACES, lists=(lists, bool(lists)), form=form, limit_mb=200, refused=refused, now=NOW
    )


def _wrong() -> forms.UploadForm:
    form = forms.UploadForm({"address_column": "mail"}, {})
    form.full_clean()
    form.add_error("address_column", "There is no such column. The file has: “email”.")
    return form


LISTS = _lists(forms.UploadForm(), GOING_ON, OVER, FAILED, WAITING)
LISTS_WRONG = _lists(_wrong(), OVER)
LISTS_EMPTY = _lists(forms.UploadForm(), refused="Only members with the role reviewer may import a list.")
LIST = list_page(
    GOING_ON, (ROWS, True), forms.read(QueryDict("q=a&state=everybody")), places=PLACES, known=True, now=NOW
)
_ENTRIES = [
    Listed(
        UUID(int=1), f"ann{HOSTILE}@example.com", f"agent {HOSTILE}", "unsubscribed", "delivery 1", NOW, None
    ),
    Listed(UUID(int=2), "bob@example.com", "", "by_hand", "Mia Berg", NOW - timedelta(days=2), NOW),
]


def _suppressions(entries: list[Listed], wrong: tuple[str, str] = ("", "")) -> Any:
    return suppressions_page(
        actor=REVIEWER, places=PLACES, asked=suppression_forms.read(QueryDict("q=ann")),
        found=(entries, bool(entries)), form=suppression_forms.SuppressForm(), now=NOW, wrong=wrong,
    )  # fmt: skip


SUPPRESSIONS = _suppressions(_ENTRIES, (str(UUID(int=1)), "Give a reason of at least 10 characters."))
NOBODY = _suppressions([])
