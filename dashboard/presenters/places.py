"""Where everything is: the addresses of a workspace's pages, for links."""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse

_NOBODY = UUID(int=0)  # stands in an address for the id that belongs there


@lru_cache(maxsize=1_000)
def _around(name: str, slug: str) -> tuple[str, str, str]:
    """The address of something, cut at its id; looked up once, because a page has a hundred such links."""
    return reverse(name, args=[slug, _NOBODY]).rpartition(str(_NOBODY))


def _of(name: str, slug: str, id: UUID | str) -> str:
    before, _, behind = _around(name, slug)
    return f"{before}{id}{behind}"


@dataclass(frozen=True, slots=True)
class Places:
    """The addresses within the workspace `slug`."""

    slug: str

    def queue(self, query: str = "") -> str:
        """The queue; `query` is what stands behind the question mark."""
        return _with(reverse("queue", args=[self.slug]), query)

    def queue_live(self, query: str) -> str:
        """The fragment of the queue that refreshes itself."""
        return _with(reverse("queue_live", args=[self.slug]), query)

    @staticmethod
    def back(query: str) -> str:
        """What a link carries so that its page knows the way back to the queue as it was."""
        return urlencode({"back": query}) if query else ""

    def run(self, run_id: UUID | str, query: str = "") -> str:
        """One run."""
        return _with(_of("run", self.slug, run_id), query)

    def campaign(self, campaign_id: UUID | str, query: str = "") -> str:
        """One campaign."""
        return _with(_of("campaign", self.slug, campaign_id), query)

    def item(self, kind: str, item_id: UUID | str, query: str = "") -> str:
        """A run or a campaign, as `kind` says."""
        return self.campaign(item_id, query) if kind == "campaign" else self.run(item_id, query)

    def job(self, job_id: UUID | str) -> str:
        """How a job is getting on."""
        return _of("job", self.slug, job_id)

    def subject(self, name: str, query: str = "") -> str:
        """Everything about one customer."""
        named = urlencode({"name": name})
        return _with(reverse("subject", args=[self.slug]), f"{named}&{query}" if query else named)

    def decisions(self, query: str = "") -> str:
        """The decision log."""
        return _with(reverse("decisions", args=[self.slug]), query)

    def decision(self, decision_id: UUID | str, query: str = "") -> str:
        """One entry of the log."""
        return _with(_of("decision", self.slug, decision_id), query)


def _with(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path
