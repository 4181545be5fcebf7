"""Where everything is: the addresses of a workspace's pages, for links."""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse


@dataclass(frozen=True, slots=True)
class Places:
    """The addresses within the workspace `slug`."""

    slug: str

    def queue(self, query: str = "") -> str:
        """The queue; `query` is what stands behind the question mark."""
        return _with(_address("queue", self.slug), query)

    def queue_live(self, query: str) -> str:
        """The fragment of the queue that refreshes itself."""
        return _with(_address("queue_live", self.slug), query)

    @staticmethod
    def back(query: str) -> str:
        """What a link carries so that its page knows the way back to the queue as it was."""
        return urlencode({"back": query}) if query else ""

    def run(self, run_id: UUID | str, query: str = "") -> str:
        """One run."""
        return _with(_address_of("run", self.slug, run_id), query)

    def campaign(self, campaign_id: UUID | str, query: str = "", version: int | None = None) -> str:
        """One campaign: the page of its newest version, or to look at of this one."""
        if version is None:
            return _with(_address_of("campaign", self.slug, campaign_id), query)
        return _with(reverse("campaign_version", args=[self.slug, campaign_id, version]), query)

    def new_campaign(self, query: str = "") -> str:
        """Where a member proposes a campaign."""
        return _with(reverse("campaign_new", args=[self.slug]), query)

    def new_version(self, campaign_id: UUID | str) -> str:
        """Where a member proposes another version of one."""
        return _address_of("campaign_new_version", self.slug, campaign_id)

    def recipients(self, campaign_id: UUID | str, query: str = "", version: int | None = None) -> str:
        """Everybody in the list of a campaign's newest version, or of this one."""
        return _with(self._of_version("campaign{}_recipients", campaign_id, version), query)

    def recipients_csv(self, campaign_id: UUID | str, query: str = "", version: int | None = None) -> str:
        """The same list to keep."""
        return _with(self._of_version("campaign{}_recipients_csv", campaign_id, version), query)

    def _of_version(self, name: str, campaign_id: UUID | str, version: int | None) -> str:
        if version is None:
            return reverse(name.format(""), args=[self.slug, campaign_id])
        return reverse(name.format("_version"), args=[self.slug, campaign_id, version])

    def item(self, kind: str, item_id: UUID | str, query: str = "") -> str:
        """A run or a campaign, as `kind` says."""
        return self.campaign(item_id, query) if kind == "campaign" else self.run(item_id, query)

    def job(self, job_id: UUID | str) -> str:
        """How a job is getting on."""
        return _address_of("job", self.slug, job_id)

    def subject(self, name: str, query: str = "") -> str:
        """Everything about one customer."""
        named = urlencode({"name": name})
        return _with(_address("subject", self.slug), f"{named}&{query}" if query else named)

    def authority(self, asked: str = "") -> str:
        """Who allowed what goes by this."""
        return _with(reverse("authority", args=[self.slug]), urlencode({"q": asked}) if asked else "")

    def decisions(self, query: str = "") -> str:
        """The decision log."""
        return _with(_address("decisions", self.slug), query)

    def export(self, query: str = "") -> str:
        """The log, or what of it the query asks for, to keep."""
        return _with(reverse("decisions_export", args=[self.slug]), query)

    def packet(self, decision_id: UUID | str) -> str:
        """The evidence packet of one entry."""
        return reverse("decision_packet", args=[self.slug, decision_id])

    def decision(self, decision_id: UUID | str, query: str = "") -> str:
        """One entry of the log."""
        return _with(_address_of("decision", self.slug, decision_id), query)

    def datasets(self, query: str = "") -> str:
        """All lists of recipients, and the form that sends one."""
        return _with(reverse("datasets", args=[self.slug]), query)

    def upload(self) -> str:
        """Where a list is sent."""
        return reverse("dataset_upload", args=[self.slug])

    def dataset(self, dataset_id: UUID | str, query: str = "") -> str:
        """One list of recipients."""
        return _with(_address_of("dataset", self.slug, dataset_id), query)

    def dataset_live(self, dataset_id: UUID | str) -> str:
        """The fragment that follows an import."""
        return _address_of("dataset_live", self.slug, dataset_id)

    def suppressions(self, query: str = "") -> str:
        """Who is not to be written to."""
        return _with(reverse("suppressions", args=[self.slug]), query)

    def suppress(self) -> str:
        """Where an address is put on that list."""
        return reverse("suppression_add", args=[self.slug])

    def release(self, suppression_id: UUID | str) -> str:
        """Where one is taken off it."""
        return _address_of("suppression_release", self.slug, suppression_id)

    def setup(self) -> str:
        """Where the workspace is set up."""
        return reverse("setup", args=[self.slug])

    def add_runtime(self) -> str:
        """Where a runtime is added."""
        return reverse("runtime_add", args=[self.slug])

    def set_sending(self) -> str:
        """Where it is said how the workspace sends."""
        return reverse("sending_set", args=[self.slug])

    def runtime(self, runtime_id: UUID | str) -> str:
        """One runtime."""
        return reverse("runtime", args=[self.slug, runtime_id])

    def runtime_live(self, runtime_id: UUID | str, query: str = "") -> str:
        """The fragment that follows the reading of a runtime's store."""
        return _with(reverse("runtime_live", args=[self.slug, runtime_id]), query)

    def runtime_database(self, runtime_id: UUID | str) -> str:
        """Where another database address of a runtime is said."""
        return reverse("runtime_database", args=[self.slug, runtime_id])

    def campaign_tools(self, runtime_id: UUID | str) -> str:
        """The tools of a runtime whose calls propose campaigns."""
        return reverse("campaign_tools", args=[self.slug, runtime_id])

    def change_campaign_tools(self, runtime_id: UUID | str) -> str:
        """Where one of them is declared or taken away."""
        return reverse("campaign_tools_change", args=[self.slug, runtime_id])

    def runtime_callback(self, runtime_id: UUID | str) -> str:
        """Where it is said at which address a runtime is told of its campaigns."""
        return reverse("runtime_callback", args=[self.slug, runtime_id])


# A page lists fifty of them and more; finding each of these addresses anew took longer than its queries.
_AN_ID = UUID(int=0)


@lru_cache(maxsize=1_000)
def _address(name: str, slug: str) -> str:
    return reverse(name, args=[slug])


def _address_of(name: str, slug: str, id: UUID | str) -> str:
    return _around(name, slug).format(id)


@lru_cache(maxsize=1_000)
def _around(name: str, slug: str) -> str:
    """The address of something, with a place for its id. A slug holds nothing that `format` would take for one."""
    return reverse(name, args=[slug, _AN_ID]).replace(str(_AN_ID), "{}")


def _with(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path
