"""Where this installation says that people reach it, and whether the links in its messages lead there.

Mail programs unsubscribe by themselves, and over HTTPS alone (RFC 8058); a link to the machine that wrote the message
leads whoever reads it to their own.
"""

import ipaddress

from approvals.exceptions import Invalid
from approvals.rules.urls import web_address

_MEND = (
    "set BASE_URL to the https:// address at which people reach Secondlook and start it again or, where it is only"
    " tried, name whom it may write to in ALLOWED_RECIPIENT_DOMAINS."
)


def why_links_lead_nowhere(base_url: str) -> str:
    """One sentence that says what is wrong with this address and what to do; empty where nothing is."""
    try:
        address = web_address(base_url, "base_url", "BASE_URL")
    except Invalid:
        return f"Links in messages would lead nowhere, because BASE_URL is no address to begin a link with: {_MEND}"
    scheme, _, rest = address.partition("://")
    if _is_this_machine(rest.partition("/")[0]):
        return f"Links in messages would lead nowhere, because BASE_URL is {address}, which is this machine: {_MEND}"
    if scheme != "https":
        return (
            f"Nobody could unsubscribe with one click, because BASE_URL is {address}, and mail programs do that over"
            f" HTTPS alone: {_MEND}"
        )
    return ""


def _is_this_machine(netloc: str) -> bool:
    """Whether a host, with or without a port, is a name or number for the machine that asks."""
    host = netloc.partition("]")[0].lstrip("[") if netloc.startswith("[") else netloc.partition(":")[0]
    host = host.rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return False
    return number.is_loopback or number.is_unspecified
