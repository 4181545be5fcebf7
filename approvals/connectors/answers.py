"""What an answer over HTTP says, in words for people."""

import json
from http import HTTPStatus

QUOTE_LIMIT = 200


def status_words(status: int) -> str:
    """A status as `404 Not Found`, or the number alone where it has no name."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def quoted(body: bytes) -> str:
    """What a JSON body gives as its reason, as `: “reason”`; empty where it says nothing readable."""
    try:
        said = _reason(json.loads(body)) if body.strip() else ""
    except (ValueError, RecursionError):
        return ""
    return f": “{said}”" if said else ""


def one_line(text: str) -> str:
    """Somebody else's text as one short printable line without a full stop."""
    printable = "".join(char if char.isprintable() else " " for char in text[: 4 * QUOTE_LIMIT])
    line = " ".join(printable.split()).rstrip(".")
    return line if len(line) <= QUOTE_LIMIT else line[: QUOTE_LIMIT - 1] + "…"


def _reason(said: object) -> str:
    if not isinstance(said, dict):
        return ""
    texts = [said.get(key) for key in ("detail", "error", "message", "title")]
    # FastAPI lists what is wrong with a request, each with its own words.
    texts += [
        text[0].get("msg") for text in texts if isinstance(text, list) and text and isinstance(text[0], dict)
    ]
    text = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    return one_line(text)
