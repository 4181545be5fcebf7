"""Which addresses of runtimes are called at all: plain http or https, at a host that an admin has added."""

from collections.abc import Collection

import httpx


class BadAddress(Exception):
    """The runtime's address is not one that may be called; the text is one plain sentence."""


def checked(base_url: str, allowed_hosts: Collection[str]) -> httpx.URL:
    """The base URL if it may be called; raises BadAddress otherwise.

    `allowed_hosts` are hosts as `host` or `host:port`.
    """
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
    return url


def below(base: httpx.URL, path: str) -> httpx.URL:
    """The address of a path, which begins with a slash and is percent-encoded, below the base URL."""
    return base.copy_with(raw_path=base.raw_path.rstrip(b"/") + path.encode("ascii"))


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
