"""Sample objects for the pages on which a member proposes a campaign, or another version of one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from approvals.rules.attachments import Attached, Wanted
from approvals.rules.content import Content
from approvals.selectors.campaigns import CampaignFacts
from dashboard.forms.attached import Listed, already
from dashboard.forms.datasets import UploadForm
from dashboard.forms.proposals import ListedForm, TypedForm, VersionForm
from dashboard.presenters.build_proposals import choose_page, files_of, version_page, write_page
from dashboard.presenters.build_whom import whom_of
from dashboard.presenters.text import plain
from dashboard.views.proposals import ANOTHER_VERSION, CHOOSE_FIRST
from tests.templates.samples import HOSTILE, NOW
from tests.templates.samples_datasets import OVER, PLACES

_LETTER = {
    "name": "Spring offers",
    "purpose": "They asked for news of the spring range.",
    "sender": "Northwind <news@northwind.example.com>",
    "subject": "New in spring, {{ first_name }}",
    "text": "Dear {{ first_name }},\n\nspring is here.",
}


FILE = Attached(UUID(int=3), f"offers {HOSTILE}.pdf", "application/pdf", "ab" * 32, 48_211, "pdf")


NO_FILES = files_of((), {})
FILES = files_of(already([FILE]), {FILE.sha256: FILE.size})
WRONG_FILES = files_of(
    (
        *already([FILE]),
        Listed(Wanted(sha256="cd" * 32, filename="map.png", content_type="image/png"), ticked=False),
    ),
    {FILE.sha256: FILE.size, "cd" * 32: 9_000_000},
    [
        f"“scan {plain(HOSTILE)}.tiff” is larger than 10 MB. Make it smaller, or put it where a link in the text leads to."
    ],
)


def _sent(form: Any) -> Any:
    """As it comes back with what was wrong."""
    form.full_clean()
    return form


def _choose(*lists: Any, wrong: str = "", refused: str = "") -> Any:
    return choose_page(
        places=PLACES, lists=lists, form=UploadForm(), limit_mb=200, refused=refused, wrong=wrong
    )


def _version(status: str, *, warning: str = "", comment: str = "", **counts: int) -> Any:
    states = (
        "total", "addressable", "duplicate", "suppressed", "refused", "already_sent", "planned", "attempting", "sent",
        "failed", "in_doubt", "skipped",
    )  # fmt: skip
    facts = CampaignFacts(
        id=UUID(int=1), external_id="spring", agent="outreach", name=f"Spring {HOSTILE}", purpose="", status=status,
        send_by=None, created_at=NOW - timedelta(hours=3), run_id=None, run_name="", version_id=UUID(int=2), version=1,
        digest="ab" * 32, versions=(),
        content=Content("a@example.com", "", "{{ first_name }}", "Dear {{ first_name }}", ""),
        counts=dict.fromkeys(states, 0) | counts, waiting={}, job=None,
    )  # fmt: skip
    form = VersionForm(None, rest=5_188, lists=[OVER], initial=_LETTER | {"who": "rest"})
    return version_page(
        facts, places=PLACES, form=form, files=FILES, user_id="1", comment=comment, warning=warning
    )


CHOOSE = _choose(OVER)
CHOOSE_EMPTY = _choose(wrong=CHOOSE_FIRST, refused="Only members with the role reviewer may import a list.")
WRITE = write_page(
    places=PLACES, dataset=OVER, form=ListedForm(None, dataset=OVER, initial=_LETTER), files=FILES,
    external_id="1", shown="s",
)  # fmt: skip
WRITE_WRONG = write_page(
    places=PLACES,
    dataset=OVER,
    form=_sent(ListedForm(_LETTER | {"sender": "nobody", "who": "some", "name": ""}, dataset=OVER)),
    files=WRONG_FILES,
    external_id="1",
    shown="s",
)
WHOM = whom_of(
    ListedForm(None, dataset=OVER, initial={"who": "some", "column": "2"}),
    url=PLACES.new_campaign("list=1"), values=["Oslo", "Bergen", f"No {HOSTILE}"], alone=True,
)  # fmt: skip
TYPED = write_page(places=PLACES, dataset=None, form=TypedForm(), files=NO_FILES, external_id="1", shown="s")
VERSION = _version("sending", sent=4_812, planned=5_185, in_doubt=2, attempting=1, failed=3)
VERSION_LATE = _version("returned", warning=ANOTHER_VERSION.format(number=2), comment=f"The date {HOSTILE}")
VERSION_CLOSED = _version("finished")
