"""Strict JSON for input that nobody trusts: one reading of every text, in time linear in its length.

Refused are duplicate keys, NaN and Infinity, NUL, lone surrogates, whole numbers beyond 64 bits, numbers
too large for a double, and nesting beyond a limit, which is measured before the parser may recurse.
"""

import json
import re
from array import array
from itertools import accumulate
from typing import Any

from approvals.exceptions import Refusal

MAX_DEPTH = 64
_LONGEST_NUMBER = 64  # characters; more digits than any double or 64-bit number needs
_LONGEST_FIELD = 200  # characters of a path shown in a refusal

_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP_OF_BRACKET = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
# Escapes that stand for NUL or a surrogate; only a text that has one can decode to a forbidden character.
_SUSPECT_ESCAPE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_FORBIDDEN = re.compile("[\x00\ud800-\udfff]")
_PLAIN_KEY = re.compile(r"[^\W\d]\w*")


class BadJson(Refusal):
    """A body that is not strict JSON; `field` is the path to what is wrong where there is one."""

    default_code = "bad_json"

    def __init__(self, detail: str, field: str | None = None) -> None:
        self.detail = detail
        super().__init__(detail, field=field)


class _Flaw:
    """Stands in the parsed value where something forbidden was read, until its path is known."""

    def __init__(self, detail: str, key: str | None = None) -> None:
        self.detail, self.key = detail, key


def loads(data: bytes, max_depth: int = MAX_DEPTH) -> Any:
    """The value of a UTF-8 JSON text as dict, list, str, int, float, bool or None; raises BadJson."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadJson(f"The body is not UTF-8: byte {error.start} cannot be read.") from None
    if _depth(data) > max_depth:
        raise BadJson(f"The body is nested more than {max_depth} levels deep. Send a flatter one.")
    reader = _Reader()
    try:
        value = reader.decode(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise BadJson(f"The body is not valid JSON: {error.msg.removesuffix(' at')} at {where}.") from None
    if reader.found_flaw or _SUSPECT_ESCAPE.search(data):
        flaw = _first_flaw(value)
        if flaw is not None:
            path, detail = flaw
            raise BadJson(detail, _clip(path.removeprefix(".")) or None)
    return value


def _depth(data: bytes) -> int:
    """How deep brackets nest, those inside strings aside; no recursion, and no loop in Python."""
    outside = data.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')[::2]
    steps = b"".join(outside).translate(_STEP_OF_BRACKET, _NOT_BRACKETS)
    return max(accumulate(array("b", steps)), default=0)


class _Reader:
    """The standard library's parser with hooks that leave a flaw where strictness is hurt."""

    def __init__(self) -> None:
        self.found_flaw = False
        self.decode = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=self._int,
            parse_float=self._float,
            parse_constant=lambda word: self._flaw(f"{word} is not a JSON number."),
        ).decode

    def _flaw(self, detail: str, key: str | None = None) -> _Flaw:
        self.found_flaw = True
        return _Flaw(detail, key)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Flaw:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                return self._flaw(f"The key {_shown(key)} is there twice. Send it once.", key)
            seen.add(key)
        raise AssertionError("a shorter dict has a key that came twice")

    def _int(self, digits: str) -> int | _Flaw:
        if len(digits) <= 20 and -(2**63) <= (number := int(digits)) < 2**63:
            return number
        return self._flaw("A whole number must fit into 64 bits. Send a longer one as text.")

    def _float(self, digits: str) -> float | _Flaw:
        if len(digits) <= _LONGEST_NUMBER and abs(number := float(digits)) != float("inf"):
            return number
        return self._flaw("This number is too large or too long. Send it as text.")


def _first_flaw(value: Any) -> tuple[str, str] | None:
    """(path, what is wrong) of the first forbidden thing in a value, which nests no deeper than allowed."""
    if isinstance(value, _Flaw):
        return ("" if value.key is None else _step(value.key)), value.detail
    if isinstance(value, str):
        return ("", "This text holds NUL or half a surrogate pair.") if _FORBIDDEN.search(value) else None
    if isinstance(value, list):
        for index, item in enumerate(value):
            if flaw := _first_flaw(item):
                return f"[{index}]{flaw[0]}", flaw[1]
    elif isinstance(value, dict):
        for key, item in value.items():
            if _FORBIDDEN.search(key):
                return _step(key), "This key holds NUL or half a surrogate pair."
            if flaw := _first_flaw(item):
                return f"{_step(key)}{flaw[0]}", flaw[1]
    return None


def _step(key: str) -> str:
    """The step from an object to its member: a plain name after a dot, anything else quoted in brackets."""
    return f".{_clip(key)}" if _PLAIN_KEY.fullmatch(key) else f"[{_shown(key)}]"


def _shown(key: str) -> str:
    """A key as printable ASCII, since it may hold anything."""
    return json.dumps(_clip(key))


def _clip(text: str) -> str:
    return text if len(text) <= _LONGEST_FIELD else text[: _LONGEST_FIELD - 3] + "..."
