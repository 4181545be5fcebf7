"""What the HTTP connector takes and gives, and which addresses it is willing to call."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

import httpx


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


class BadAddress(Exception):
    """The runtime's address is not one that may be called; the text is one plain sentence."""


def replay_url(base_url: str, allowed_hosts: Collection[str]) -> httpx.URL:
    """The address `{base_url}/replays` if it may be called; raises BadAddress otherwise."""
    try:
        url = httpx.URL(base_url)
    except (httpx.InvalidURL, ValueError):
        raise BadAddress("The runtime's address is not a web address.") from None
    if url.scheme not in ("http", "https"):
        raise BadAddress("The runtime's address must begin with http:// or https://.")
    if not 0 < port_of(url) < 65536:
        raise BadAddress("The runtime's address holds a port that does not exist.")
    if not url.host:
        raise BadAddress("The runtime's address names no host.")
    if url.userinfo:
        raise BadAddress("The runtime's address must not hold a user name or password.")
    if url.query or url.fragment or "?" in base_url or "#" in base_url:
        raise BadAddress("The runtime's address must not hold a query or a fragment.")
    if not _allowed(url, allowed_hosts):
        raise BadAddress(f"The host {url.host} is not one of the runtimes that an admin has added.")
    return url.copy_with(path=url.path.rstrip("/") + "/replays")


def port_of(url: httpx.URL) -> int:
    """The port that the address means, also where it does not say."""
    default = 443 if url.scheme == "https" else 80
    return default if url.port is None else url.port


def _allowed(url: httpx.URL, allowed_hosts: Collection[str]) -> bool:
    host = _same(url.host)
    literal = f"[{host}]" if ":" in host else host
    return bool({host, literal, f"{literal}:{port_of(url)}"} & {_same(entry) for entry in allowed_hosts})


def _same(host: str) -> str:
    return host.strip().rstrip(".").lower()
