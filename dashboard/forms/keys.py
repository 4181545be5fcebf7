"""Places in a list as they travel in an address: short, and refused when somebody has changed them."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LARGEST = 2**63 - 1
_MICROSECOND = timedelta(microseconds=1)


def write(*parts: datetime | UUID | int | None) -> str:
    """The parts in one word of letters, digits, dots and dashes; None reads `-`."""
    return ".".join(_written(part) for part in parts)


def _written(part: datetime | UUID | int | None) -> str:
    if part is None:
        return "-"
    if isinstance(part, datetime):
        return str((part - _EPOCH) // _MICROSECOND)
    return part.hex if isinstance(part, UUID) else str(part)


def read_parts(text: str, count: int) -> list[str]:
    """The written parts; ValueError unless there are `count` of them."""
    parts = text.split(".")
    if len(parts) != count:
        raise ValueError("not a place in this list")
    return parts


def read_moment(part: str) -> datetime:
    """The moment that `write` wrote; ValueError for anything else."""
    try:
        return _EPOCH + int(part) * _MICROSECOND
    except OverflowError as error:
        raise ValueError("not a moment") from error


def read_number(part: str) -> int:
    """A number that Postgres can hold; ValueError for anything else."""
    if not (part.isascii() and part.isdigit()) or len(part) > len(str(_LARGEST)) or int(part) > _LARGEST:
        raise ValueError("not a number")
    return int(part)


def read_id(part: str) -> UUID:
    """The id that `write` wrote; ValueError for anything else."""
    return UUID(hex=part)
