"""`bench adk`: what observing and streaming agents of Google ADK costs.

Observing (`adk_store`): events a second of the first read of a store with 100,000 sessions of ten events, and the
seconds of one look at it when ten of them changed.
"""

from typing import Any

from dashboard.bench import adk_store, servers
from dashboard.bench.figures import Goal, answer, rounded
from dashboard.bench.telling import Teller

GOALS = {
    "first_read_events_per_s": Goal("at_least", 3_000),
    "poll_s": Goal("at_most", 1.0),
}


def run(tell: Teller, scale: float) -> dict[str, Any]:
    """Read, look again, answer."""
    tell.say("Starting a database")
    with servers.running(need_mb=8_000) as running:
        observing = adk_store.measure(tell, running, scale, "http://127.0.0.1:9")
    figures = {
        "first_read_events_per_s": rounded(observing.pop("events_per_s")),
        "poll_s": rounded(observing.pop("poll_s")),
    }
    return answer("adk", scale, figures, GOALS, observing=observing)
