"""Addresses of runtimes and of their databases, with nothing in them that two programs could read differently."""

import re
from urllib.parse import SplitResult, unquote, urlsplit

from approvals.exceptions import Invalid

LONGEST = 500
SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"(?:{_LABEL}\.)*{_LABEL}\.?|\[[0-9a-f:.]+\]")
_PATH = re.compile(r"(?:/[A-Za-z0-9._~!$&'()*+,;=:@%-]*)*")
_POSTGRES = ("postgresql", "postgres", "postgresql+asyncpg")
_ESCAPES = re.compile(r"(?:[^%]|%[0-9A-Fa-f]{2})*")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_STRANGE = re.compile(r"[^!-~]")  # spaces, control characters and everything beyond ASCII


def base_url_given(text: str) -> str:
    """The base URL of a runtime without a slash at its end; Invalid where it is more than host, port and path."""
    return web_address(text, "base_url", "The base URL").rstrip("/")


def callback_url_given(text: str) -> str:
    """The address at which a runtime is told of its campaigns, exactly as its path is written; empty for none.

    Invalid where it is more than host, port and path.
    """
    return web_address(text, "callback_url", "The callback address") if text.strip() else ""


def web_address(text: str, field: str, name: str) -> str:
    """An address over http or https, with its host in small letters; Invalid, which begins with `name`, for others."""
    text = text.strip()

    def invalid(what: str) -> Invalid:
        return Invalid(field, f"{name} {what}")

    if len(text) > LONGEST:
        raise invalid(f"is longer than {LONGEST} characters.")
    if _STRANGE.search(text):
        raise invalid("has a character that does not belong there; write an international name as xn--.")
    try:
        parts = urlsplit(text)
        host, port = parts.netloc.lower(), parts.port
    except ValueError:
        raise invalid("has no valid host and port.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise invalid("begins with http:// or https:// and a host.")
    if "@" in host:
        raise invalid("must not hold a user name or password; requests are signed instead.")
    if "?" in text or "#" in text:
        raise invalid("must have no part after a ? or #.")
    if port is not None:
        host = host.rpartition(":")[0]
    if not _HOST.fullmatch(host) or port == 0 or not _PATH.fullmatch(parts.path):
        raise invalid("is not of the form http://host:port/path.")
    return f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{parts.path}"


def database_url_given(text: str) -> str:
    """The address of a runtime's Postgres as postgresql://user:password@host:port/name, with sslmode where given.

    Invalid, whose text never repeats a part of the address, where it is anything else. What stands escaped in user,
    password and name stays so.
    """
    text = text.strip()
    if len(text) > LONGEST:
        raise _bad_database(f"The database address is longer than {LONGEST} characters.")
    if _STRANGE.search(text) or not _ESCAPES.fullmatch(text) or _CONTROLS.search(unquote(text)):
        raise _bad_database(
            "The database address has a character that does not belong there; write it as % and two digits."
        )
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _bad_database("The database address has no valid host and port.") from None
    if parts.scheme not in _POSTGRES:
        raise _bad_database("The database address begins with postgresql://; other databases are not read.")
    who, at, _ = parts.netloc.rpartition("@")
    host, name = (parts.hostname or "").lower(), parts.path.removeprefix("/")
    host = f"[{host}]" if ":" in host else host
    if not _HOST.fullmatch(host) or port == 0 or "@" in who or "#" in text:
        raise _bad_database(
            "The database address is not of the form postgresql://user:password@host:port/name; write @, / and # "
            "in a password as %40, %2F and %23."
        )
    if not name or "/" in name:
        raise _bad_database("The database address ends with a slash and the name of one database.")
    return f"postgresql://{who}{at}{host}{'' if port is None else f':{port}'}/{name}{_ssl_mode(parts)}"


def _ssl_mode(parts: SplitResult) -> str:
    if not parts.query:
        return ""
    key, _, mode = parts.query.partition("=")
    if key != "sslmode" or mode not in SSL_MODES:
        raise _bad_database(f"The only option of a database address is sslmode: {', '.join(SSL_MODES)}.")
    return f"?sslmode={mode}"


def _bad_database(text: str) -> Invalid:
    return Invalid("database_url", text)
