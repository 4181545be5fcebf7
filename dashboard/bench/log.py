"""`bench log`: what the decision log's proofs cost.

The chain: decisions a second by WRITERS processes as app, in one workspace and in eight, against the same inserts
without the chain (`log_writing`). The verifier: entries a second of a long export, in one process (`log_export`).
The isolation: the queue's first page and the search at a million runs as app under row-level security, against the
same queries by the superuser, whom no policy binds (`log_reading`).
"""

from typing import Any

from dashboard.bench import log_export, log_reading, log_writing
from dashboard.bench.figures import Goal, answer
from dashboard.bench.telling import Teller

GOALS = {
    "of_unchained_one": Goal("at_least", 0.35),
    "of_unchained_eight": Goal("at_least", 0.6),
    "verify_per_s": Goal("at_least", 50_000),
    "rls_ratio_queue": Goal("at_most", 1.3),
    "rls_ratio_search": Goal("at_most", 1.3),
}


def run(tell: Teller, scale: float) -> dict[str, Any]:
    """Write, verify, read, answer."""
    writing = log_writing.measure(tell, scale)
    verifying = log_export.measure(tell, scale)
    reading = log_reading.measure(tell, scale)
    figures = {
        "of_unchained_one": writing.pop("one"),
        "of_unchained_eight": writing.pop("eight"),
        "verify_per_s": verifying.pop("per_s"),
        "rls_ratio_queue": reading.pop("queue"),
        "rls_ratio_search": reading.pop("search"),
    }
    return answer("log", scale, figures, GOALS, writing=writing, verifying=verifying, reading=reading)
