"""One customer (`subjects/page.html`): everything that was done, sent and decided on their behalf."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from dashboard.presenters.parts import DecisionLine, DeliveryLine, RunLine, Trail


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectPage:
    """Three lists, newest first, each with its link to older entries. `title` is `text.plain`."""

    title: str
    heading: SafeString
    trail: Trail
    summary: str
    runs: tuple[RunLine, ...] = ()
    runs_older: str = ""
    deliveries: tuple[DeliveryLine, ...] = ()
    deliveries_older: str = ""
    decisions: tuple[DecisionLine, ...] = ()
    decisions_older: str = ""
