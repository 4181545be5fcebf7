"""What somebody sent that was not accepted, so that the page can give it back with the error beside its field."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.http import QueryDict

from approvals.exceptions import Invalid
from approvals.rules.in_place import Said
from dashboard.forms.runs import said_in


@dataclass(frozen=True, slots=True)
class Tried:
    """One form as it was sent: which act on which target, what was typed and ticked, and what was wrong with it.

    `wrong_at` is the field that was wrong; `said` is of open calls, by call id.
    """

    act: str = ""
    target: str = ""
    wrong_at: str = ""
    error: str = ""
    reason: str = ""
    resolution: str = ""
    ticked: frozenset[str] = frozenset()
    unknown_ticked: bool = False
    said: Mapping[str, Said] = field(default_factory=dict)

    def of(self, act: str, target: str = "") -> "Tried":
        """This, if it is about that act and target; else an empty one."""
        return self if (self.act, self.target) == (act, target) else Tried()

    def error_at(self, *fields: str) -> str:
        """The error, if it is about one of these fields."""
        return self.error if self.wrong_at in fields else ""


def tried(act: str, post: QueryDict, invalid: Invalid, *, target: str = "") -> Tried:
    """Keep what was sent."""
    return Tried(
        act=act,
        target=target,
        wrong_at=invalid.field or "",
        error=invalid.text,
        reason=post.get("reason") or post.get("comment") or "",
        resolution=post.get("resolution") or "",
        ticked=frozenset([*post.getlist("ack"), *post.getlist("delivery")]),
        unknown_ticked=post.get("ack_unknown") == "1",
        said=said_in(post),
    )
