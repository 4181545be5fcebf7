"""What the dispatcher does for the log, slowly: tells its anchors to the log stream, and verifies it once a day.

An anchor is worth something because it is kept elsewhere: whoever can rewrite the database cannot rewrite the log
stream as well. Two dispatchers tell the same anchors twice, which harms nobody.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.utils import timezone

from approvals.access.actors import SECONDLOOK
from approvals.db.binding import bind
from approvals.selectors import log_check, log_heads
from approvals.selectors.log_heads import Verified
from approvals.services import log_checks

DAY = timedelta(days=1)
# An entry has its time from before its commit, so one that is older than the last one told may still appear.
OVERLAP = timedelta(minutes=10)

log = structlog.get_logger(__name__)


class LogWatch:
    """What was told already is remembered here; a new process tells the last day's again."""

    def __init__(self, stopping: Callable[[], bool]) -> None:
        self._stopping = stopping
        self._told: dict[tuple[UUID, int], datetime] = {}
        self._since = timezone.now() - DAY
        self._heads_told: datetime | None = None

    def round(self) -> None:
        """Everything that is due now."""
        self.tell_anchors()
        heads = log_heads.heads()
        self.tell_heads(heads)
        for verified in heads:
            if self._stopping():
                return
            if verified.head.seq > verified.seq and timezone.now() - verified.at >= DAY:
                self.verify(verified)

    def tell_anchors(self) -> None:
        """Every 1,000th entry that was not told yet."""
        for anchor in log_heads.anchors(since=self._since):
            if (anchor.workspace_id, anchor.seq) not in self._told:
                _tell(anchor.workspace_id, anchor.slug, anchor.seq, anchor.hash)
            self._told[anchor.workspace_id, anchor.seq] = anchor.at
            self._since = max(self._since, anchor.at - OVERLAP)
        self._told = {key: at for key, at in self._told.items() if at >= self._since}

    def tell_heads(self, heads: list[Verified]) -> None:
        """The head of every log: now, and once a day."""
        if self._heads_told is not None and timezone.now() - self._heads_told < DAY:
            return
        for verified in heads:
            _tell(verified.workspace_id, verified.slug, verified.head.seq, verified.head.hash)
        self._heads_told = timezone.now()

    def verify(self, verified: Verified) -> None:
        """Check one log and write down what was found. What is wrong with one keeps no other from its turn."""
        try:
            with bind(verified.workspace_id):
                for found in log_check.check():  # noqa: B007  # the last one is the result
                    if self._stopping():
                        return
                if not found.holds:
                    log.error("the decision log does not hold", workspace=verified.slug, why=found.why)
                log_checks.record_once(by=SECONDLOOK, found=found, after=verified.seq)
        except Exception:
            log.exception("the decision log could not be verified", workspace=verified.slug)


def _tell(workspace_id: UUID, slug: str, seq: int, hash: str) -> None:
    log.info("log anchor", workspace=slug, workspace_id=str(workspace_id), seq=seq, hash=hash)
