"""Addresses of runtimes: plain http or https, and nothing in them that two programs could read differently."""

import re
from urllib.parse import urlsplit

from approvals.exceptions import Invalid

LONGEST = 500

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"(?:{_LABEL}\.)*{_LABEL}\.?|\[[0-9a-f:.]+\]")
_PATH = re.compile(r"(?:/[A-Za-z0-9._~!$&'()*+,;=:@%-]*)*")
_STRANGE = re.compile(r"[^!-~]")  # spaces, control characters and everything beyond ASCII


def base_url_given(text: str) -> str:
    """The base URL of a runtime without a slash at its end; Invalid where it is more than host, port and path."""
    text = text.strip()
    if len(text) > LONGEST:
        raise _invalid(f"The base URL is longer than {LONGEST} characters.")
    if _STRANGE.search(text):
        raise _invalid(
            "The base URL has a character that does not belong there; write an international name as xn--."
        )
    try:
        parts = urlsplit(text)
        host, port = parts.netloc.lower(), parts.port
    except ValueError:
        raise _invalid("The base URL has no valid host and port.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise _invalid("The base URL begins with http:// or https:// and a host.")
    if "@" in host:
        raise _invalid("The base URL must not hold a user name or password; requests are signed instead.")
    if "?" in text or "#" in text:
        raise _invalid("The base URL must have no part after a ? or #.")
    if port is not None:
        host = host.rpartition(":")[0]
    if not _HOST.fullmatch(host) or port == 0 or not _PATH.fullmatch(parts.path):
        raise _invalid("The base URL is not of the form http://host:port/path.")
    return f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"


def _invalid(text: str) -> Invalid:
    return Invalid("base_url", text)
