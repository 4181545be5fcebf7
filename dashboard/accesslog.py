"""The access log without what must not be read there: keys in addresses, and what people searched for."""

import re
from typing import Any

from gunicorn.glogging import Logger

_KEY = re.compile(r"(/password/reset/key/)[^/\s?]+")
_QUERY = re.compile(r"\?\S*")
_TOLD = ("r", "U", "f")  # request line, path, referrer


def discreet(text: str) -> str:
    """A request line, path or address without its query and without the key of a password reset."""
    return _QUERY.sub("", _KEY.sub(r"\1(dropped)", text))


class DiscreetLogger(Logger):  # type: ignore[misc]  # gunicorn has no types
    """Gunicorn's logger; what it can say of a request is cleaned first, whatever the format."""

    def atoms(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Gunicorn's values of a request, cleaned; its query is not among them."""
        atoms: dict[str, Any] = super().atoms(*args, **kwargs)
        for name in _TOLD:
            atoms[name] = discreet(str(atoms.get(name, "")))
        return atoms | {"q": ""}
