"""The demo's agent hears what became of its campaign: from whoever signs it, and once."""

import json

from approvals.connectors.http import News, Told, tell
from approvals.rules import webhooks
from tests.demo.conftest import SECRET, Start

BODY = json.dumps(
    {
        "type": "campaign.returned",
        "data": {"external_id": "autumn", "status": "returned", "comment": "No soup."},
    }
)


def test_it_says_what_it_was_told_once(start: Start, said: list[str]) -> None:
    runtime = start()
    news = News(f"http://127.0.0.1:{runtime.port}/told", SECRET, "callback-1", BODY, 5)
    assert tell(news) == tell(news) == Told("told", "It took the callback (200 OK).")
    assert said.count("The campaign autumn is returned now. No soup.") == 1


def test_it_says_why_nothing_went_out(start: Start, said: list[str]) -> None:
    data = {"external_id": "winter", "status": "pending", "comment": "", "reason": "Its send_by was over."}
    body = json.dumps({"type": "campaign.not_begun", "data": data})
    runtime = start()
    assert tell(News(f"http://127.0.0.1:{runtime.port}/told", SECRET, "callback-2", body, 5)).kind == "told"
    assert said.count("The campaign winter is pending now. Its send_by was over.") == 1


def test_it_hears_nobody_else(start: Start, said: list[str]) -> None:
    runtime = start()
    news = News(f"http://127.0.0.1:{runtime.port}/told", webhooks.new_secret(), "callback-1", BODY, 5)
    assert tell(news).kind == "not_told"
    assert not [line for line in said if "autumn" in line]
