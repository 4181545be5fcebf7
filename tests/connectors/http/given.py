"""An order as the tests give it, and what comes of it."""

from typing import Any

from approvals.connectors.http import Outcome, ReplayOrder, start_replay
from approvals.rules import webhooks
from tests.servers.http import Act, HttpServer

SECRET = webhooks.new_secret()
PAYLOAD = {"run_id": "r2", "replay_of": "r1", "input": {"text": "Wo ist mein Päckchen?"}, "agent": "a"}


def order(base_url: str, **changes: Any) -> ReplayOrder:
    given: dict[str, Any] = {
        "base_url": base_url,
        "secret": SECRET,
        "allowed_hosts": {"127.0.0.1", "localhost"},
        "job_id": "job-1",
        "payload": PAYLOAD,
        "timeout_s": 5,
    }
    return ReplayOrder(**{**given, **changes})


def outcome_of(act: Act, **changes: Any) -> Outcome:
    with HttpServer([act]) as server:
        return start_replay(order(server.url, **changes))
