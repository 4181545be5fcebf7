"""What people send when they decide about a run. What it means is checked by the services."""

from dataclasses import dataclass

from django.http import QueryDict

from approvals.rules.in_place import MOST_ANSWERED, Said


@dataclass(frozen=True, slots=True)
class Force:
    """A forced replay: why, and what was acknowledged (`rules.decisions.call_key` of each call)."""

    reason: str
    ticked: tuple[str, ...]
    unknown_ticked: bool


@dataclass(frozen=True, slots=True)
class Resolve:
    """What became of something: `target` is the call's id where a run has several."""

    target: str
    resolution: str
    reason: str


@dataclass(frozen=True, slots=True)
class Answers:
    """What is said of the open calls of a run, by call id, and how the person knows."""

    said: dict[str, Said]
    reason: str


@dataclass(frozen=True, slots=True)
class Held:
    """A held call by its id, and what was written with the decision."""

    target: str
    reason: str
    comment: str


def read_reason(post: QueryDict) -> str:
    """The field `reason`; empty where it is missing."""
    return post.get("reason") or ""


def read_force(post: QueryDict) -> Force:
    """Fields `reason`, `ack` (one for each call), `ack_unknown` = 1."""
    return Force(read_reason(post), tuple(post.getlist("ack")), post.get("ack_unknown") == "1")


def read_resolve(post: QueryDict) -> Resolve:
    """Fields `target`, `resolution`, `reason`."""
    return Resolve(post.get("target") or "", post.get("resolution") or "", read_reason(post))


def read_answers(post: QueryDict) -> Answers:
    """Field `reason`, and numbered from 1 for each call `call-1` (its id), `happened-1` = 1 or 0, `result-1`,
    `receipt-1`.
    """
    return Answers(said_in(post), read_reason(post))


def said_in(post: QueryDict) -> dict[str, Said]:
    """What stands in the numbered fields, by call id."""
    said = {}
    for number in range(1, MOST_ANSWERED + 1):
        call_id = post.get(f"call-{number}")
        if call_id is not None:
            said[call_id] = Said(
                happened={"1": True, "0": False}.get(post.get(f"happened-{number}") or ""),
                result=post.get(f"result-{number}") or "",
                receipt=post.get(f"receipt-{number}") or "",
            )
    return said


def read_held(post: QueryDict) -> Held:
    """Fields `target`, `reason`, `comment`."""
    return Held(post.get("target") or "", read_reason(post), post.get("comment") or "")
