"""The way back from an item to the queue as its reader left it, and on to the next item there.

A row of the queue passes its own address on as `back` (Places.back); the item's page hands it to `to_queue`.
"""

from uuid import UUID

from approvals.selectors import queue
from dashboard.forms import queue as forms
from dashboard.middleware import PageRequest
from dashboard.presenters.parts import Link, Trail
from dashboard.presenters.places import Places
from dashboard.presenters.text import summary_line


def to_queue(request: PageRequest, item_id: UUID) -> Trail:
    """The trail of the page of this lineage or campaign, within the open transaction."""
    places = Places(request.membership.slug)
    asked = forms.read_query(request.GET.get("back", ""))
    back = forms.address(asked.wanted, after=asked.after)
    item = queue.item_of(item_id)
    following = item and queue.following(asked.wanted, queue.search(asked.wanted.text), item)
    return Trail(
        back=Link("Queue", places.queue(back)),
        next=(
            Link(
                summary_line(following.title, 60),
                places.item(following.kind, following.target_id, places.back(back)),
            )
            if following
            else None
        ),
    )
