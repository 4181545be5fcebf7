"""A folder of caught mail: one file a message, exactly as received, and its envelope beside it.

A message is there once its .eml is there; the .json beside it (who sent it, to whom, when) is written first.
"""

import json
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True)
class Caught:
    """One message. `name` identifies it within its folder; later ones sort later."""

    name: str
    sender: str
    recipients: tuple[str, ...]
    received_at: datetime
    raw: bytes


def store(folder: Path, sender: str, recipients: Sequence[str], raw: bytes) -> str:
    """Keep one message, or nothing at all; its name."""
    name = f"{time.time_ns():020d}-{secrets.token_hex(4)}"
    envelope = {
        "sender": sender,
        "recipients": list(recipients),
        "received_at": datetime.now(UTC).isoformat(),
    }
    _write(folder / f"{name}.json", json.dumps(envelope, ensure_ascii=False).encode())
    _write(folder / f"{name}.eml", raw)
    return name


def names(folder: Path) -> list[str]:
    """The names of all messages, oldest first; empty where there is no folder."""
    return sorted(path.stem for path in folder.glob("*.eml"))


def read(folder: Path, name: str) -> Caught | None:
    """One message by its name; None where there is none, whatever the name looks like."""
    return load(folder, name) if name in names(folder) else None


def load(folder: Path, name: str) -> Caught:
    """One message by a name that `names` gave."""
    envelope = json.loads((folder / f"{name}.json").read_text())
    return Caught(
        name=name,
        sender=envelope["sender"],
        recipients=tuple(envelope["recipients"]),
        received_at=datetime.fromisoformat(envelope["received_at"]),
        raw=(folder / f"{name}.eml").read_bytes(),
    )


def read_all(folder: Path) -> Iterator[Caught]:
    """Every message, oldest first."""
    for name in names(folder):
        yield load(folder, name)


def _write(path: Path, content: bytes) -> None:
    half = path.with_name(path.name + ".half")
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    half.rename(path)
