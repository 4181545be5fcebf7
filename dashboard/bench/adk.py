"""`bench adk`: what observing and streaming agents of Google ADK costs.

Observing (`adk_store`): events a second of the first read of a store with 100,000 sessions of ten events, and the
seconds of one look at it when ten of them changed. Streaming (`adk_stream`): by what share a replay takes longer than
a client that only reads the same stream.
"""

from typing import Any

from dashboard.bench import adk_store, adk_stream, house, servers
from dashboard.bench.figures import Goal, answer, rounded
from dashboard.bench.telling import Teller

GOALS = {
    "first_read_events_per_s": Goal("at_least", 3_000),
    "poll_s": Goal("at_most", 1.0),
    "stream_overhead": Goal("at_most", 0.1),
}


def run(tell: Teller, scale: float) -> dict[str, Any]:
    """Read, look again, stream, answer."""
    tell.say("Starting a database")
    with servers.running(need_mb=8_000) as running:
        port = running.start_beside("adk-source", "dashboard.bench.adk_source")
        made = house.make("bench-adk-1")
        observing = adk_store.measure(tell, running, made, scale, f"http://127.0.0.1:{port}")
        streaming = adk_stream.measure(tell, made, port, adk_stream.ROUNDS if scale == 1 else 1)
    figures = {
        "first_read_events_per_s": rounded(observing.pop("events_per_s")),
        "poll_s": rounded(observing.pop("poll_s")),
        "stream_overhead": rounded(streaming.pop("overhead")),
    }
    return answer("adk", scale, figures, GOALS, observing=observing, streaming=streaming)
