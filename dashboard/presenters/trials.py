"""The test that a reviewer sends themselves (`campaigns/_trial.html`), beside the message that it shows.

Form: `acts.Act`. Fragment: `campaigns/_trial.html#last`, which asks `LastTest.url` again every `job.pace` while it
moves.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from dashboard.presenters.acts import Act
from dashboard.presenters.ages import When
from dashboard.presenters.parts import JobProgress


@dataclass(frozen=True, slots=True)
class LastTest:
    """The newest test that this member asked for; `of` says as whom, where that is another than the one shown."""

    url: str
    at: When
    of: SafeString
    job: JobProgress


@dataclass(frozen=True, slots=True)
class Trial:
    """The button, the address that the test goes to, and whose message it shows."""

    act: Act
    to: SafeString
    whose: SafeString
    last: LastTest | None = None
