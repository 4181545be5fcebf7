"""What the HTTP connector takes and gives: orders and their outcomes, news and whether they were told."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class ReplayOrder:
    """One replay to start.

    `base_url` is the runtime's address, `allowed_hosts` the hosts (`host` or `host:port`) an admin has added,
    `secret` the runtime's signing secret, `job_id` the key under which the runtime recognises a repetition,
    `payload` the body, `timeout_s` the seconds the whole call may take.
    """

    base_url: str
    secret: str = field(repr=False)
    allowed_hosts: Collection[str]
    job_id: str
    payload: Mapping[str, object]
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known after the call; `detail` is one plain sentence for people."""

    kind: Literal["accepted", "refused", "in_doubt"]
    detail: str


@dataclass(frozen=True, slots=True)
class News:
    """What a runtime is to be told.

    `url` is where it listens, `secret` its signing secret, `message_id` the id under which it recognises a repetition,
    `body` the JSON text, `timeout_s` the seconds the whole call may take.
    """

    url: str
    secret: str = field(repr=False)
    message_id: str
    body: str = field(repr=False)
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Told:
    """Whether it was told; `gone` where it wants to hear no more. `detail` is one plain sentence for people."""

    kind: Literal["told", "not_told", "gone"]
    detail: str
