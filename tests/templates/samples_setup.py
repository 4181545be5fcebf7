"""Sample objects for the pages on which a workspace is set up."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from approvals.selectors.callbacks import Untold
from approvals.selectors.runtimes import Observed, RuntimeRow
from dashboard.forms.setup import CallbackForm, CampaignToolForm, DatabaseForm, RuntimeForm, SendingForm
from dashboard.presenters.build_setup import reading_of, runtime_page, setup_page, tools_page
from dashboard.presenters.places import Places
from dashboard.presenters.shell import NavItem
from tests.templates import samples
from tests.templates.samples import HOSTILE, NOW

PLACES = Places("northwind")
SHELL = replace(
    samples.SHELL,
    roles="admin",
    nav=(
        *(replace(item, current=False) for item in samples.SHELL.nav),
        NavItem("Setup", PLACES.setup(), current=True),
    ),
)
FACTS = {
    "booking": {"root": "llm", "hides_calls": False, "detail": ""},
    "concierge": {
        "root": "llm",
        "hides_calls": True,
        "detail": "Calls may happen that never reach the database, because these tools look like agents of their own:"
        " ask_flights, ask_hotels.",
    },
}


def _runtime(number: int, name: str, kind: str = "adk", **read: Any) -> RuntimeRow:
    observed = Observed(**{"facts": {}, "version": "2.13.0", "read_at": NOW - timedelta(seconds=2), **read})
    return RuntimeRow(
        id=UUID(int=number), name=name, kind=kind, base_url="http://agents.northwind.example:8000", silence_s=300,
        writes_ahead=False, hides_calls=False, created_at=NOW - timedelta(days=2),
        callback_url="https://desk.northwind.example/told" if kind == "http" else "",
        observed=observed if kind == "adk" else None,
    )  # fmt: skip


FIRST = _runtime(
    1,
    "booking-prod",
    pass_began_at=NOW - timedelta(minutes=4),
    pass_done=12_400,
    pass_total=100_000,
    facts=FACTS,
)
TROUBLED = _runtime(
    2, "refunds-prod", read_at=NOW - timedelta(minutes=9), pass_ended_at=NOW - timedelta(hours=1), pass_total=8_112,
    troubled_since=NOW - timedelta(minutes=9), trouble=f"The database refused the user {HOSTILE} or its password.",
    notice="google-adk 1.38.0 is too old; google-adk 1.39 to 2.13 are supported, so update the service.",
)  # fmt: skip
STEADY = _runtime(
    3, "support-prod", pass_began_at=NOW - timedelta(minutes=2), pass_ended_at=NOW - timedelta(minutes=11),
    pass_done=3_100, pass_total=8_112, facts={"helper": FACTS["booking"]},
)  # fmt: skip
HTTP = _runtime(4, "desk", kind="http")

WRONG = RuntimeForm({"name": "booking-prod", "base_url": "agents", "database_url": "x", "silence_s": "0"})
WRONG.add_error("name", 'There is already a runtime "booking-prod" in this workspace.')
WRONG.add_error(
    "database_url", "The database address begins with postgresql://; other databases are not read."
)
SENDING = SendingForm(initial={"hold_s": 60, "messages_per_minute": 0})
UNTOLD = [
    Untold(UUID(int=7), f"Spring news {HOSTILE}", HTTP.id, "campaign.returned", NOW - timedelta(hours=11), 7,
           f"It answered with an error (500 Internal Server Error): “{HOSTILE}”."),
    Untold(UUID(int=8), "Winter news", HTTP.id, "campaign.finished", NOW - timedelta(hours=12), 1,
           "It answered that it wants no more callbacks (410 Gone)."),
]  # fmt: skip
SETUP = setup_page(
    places=PLACES, runtimes=[FIRST, HTTP, TROUBLED, STEADY], untold=UNTOLD, form=RuntimeForm(), sending=SENDING,
    now=NOW,
)  # fmt: skip
SETUP_WRONG = setup_page(
    places=PLACES, runtimes=[STEADY], form=WRONG,
    sending=SendingForm({"hold_s": "99999999", "messages_per_minute": "-1"}), now=NOW,
)  # fmt: skip
SETUP_EMPTY = setup_page(places=PLACES, runtimes=[], form=RuntimeForm(), sending=SENDING, now=NOW)
RUNTIME = runtime_page(
    places=PLACES, runtime=TROUBLED, form=DatabaseForm(), listening=CallbackForm(), now=NOW
)
WRONG_CALLBACK = CallbackForm({"callback_url": "desk"})
WRONG_CALLBACK.add_error("callback_url", "The callback address begins with http:// or https:// and a host.")
RUNTIME_HTTP = runtime_page(
    places=PLACES, runtime=HTTP, untold=UNTOLD, form=None, listening=WRONG_CALLBACK, now=NOW
)
RUNTIME_SECRET = runtime_page(
    places=PLACES, runtime=STEADY, form=DatabaseForm(), listening=CallbackForm(), now=NOW,
    secret="whsec_c2Vjb25kbG9vayBzZWNvbmRsb29rIHNlY29uZGxvb2s=",
)  # fmt: skip
READING = reading_of(FIRST, PLACES, NOW)
TOOLS = tools_page(
    places=PLACES,
    runtime=replace(HTTP, campaign_tools=("propose_campaign", "write<script>to_all")),
    form=CampaignToolForm(),
)
TOOLS_WRONG = CampaignToolForm({"tool": ""})
TOOLS_NONE = tools_page(places=PLACES, runtime=HTTP, form=TOOLS_WRONG)
