"""What a decider was shown, as it comes back with their decision."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Shown:
    """The digest of what was on the page, when it was opened, and (for a lineage) what it said in short."""

    digest: str
    opened_at: datetime
    told: Mapping[str, list[str | int]] = field(default_factory=dict)
