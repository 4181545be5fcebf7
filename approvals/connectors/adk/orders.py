"""What the connector to Google ADK takes and gives."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Place:
    """An ADK service: its address, the hosts (`host` or `host:port`) that an admin has added, and how many seconds
    one question to it may take altogether.
    """

    base_url: str
    allowed_hosts: Collection[str]
    timeout_s: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOrder:
    """One turn to run.

    `message` is the `newMessage` as ADK takes it, {"role": ..., "parts": [...]}. `place.timeout_s` are the seconds
    until the stream must have opened, `limit_s` those that all of it may take; `tick_s` is how long the caller can go
    without hearing anything; `most_bytes` is the largest event that is read.
    """

    place: Place
    app: str
    user: str
    session_id: str
    message: Mapping[str, Any] = field(repr=False)
    streaming: bool = False
    tick_s: float = 2.0
    most_bytes: int = 8 * MIB
    limit_s: float = 3600.0


@dataclass(frozen=True, slots=True)
class Opened:
    """ADK has taken the turn: a stream of events was promised."""


@dataclass(frozen=True, slots=True)
class Told:
    """An event, in camelCase as ADK sent it."""

    event: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ErrorFrame:
    """The run died of an error; `details` has `error_type` and `error_message` where the version gives them."""

    text: str
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tick:
    """Nothing came for a while."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The last item of every stream; `detail` is one plain sentence.

    `ended`: the stream came to its end in order. `refused`: certainly nothing was started. `in_doubt`: it is not known
    whether anything was. `broken`: it had opened and was cut off or could not be read.
    """

    kind: Literal["ended", "refused", "in_doubt", "broken"]
    detail: str


StreamItem = Opened | Told | ErrorFrame | Tick | Closed


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of making a session; `detail` is one plain sentence."""

    kind: Literal["created", "exists", "refused", "in_doubt"]
    detail: str


@dataclass(frozen=True, slots=True)
class About:
    """What a service tells of itself; `trouble` is one plain sentence, empty where there is none."""

    version: str = ""
    apps: tuple[str, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class AppFacts:
    """What is known of an app; `hides_calls` where calls may happen that never reach its database.

    `detail` says in one plain sentence why, empty where nothing is hidden.
    """

    root: Literal["llm", "workflow", "unknown"]
    hides_calls: bool
    detail: str
