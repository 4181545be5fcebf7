"""What the demo runtime remembers between two starts, in one small JSON file."""

import json
import threading
from pathlib import Path
from typing import Any


class State:
    """Scenes played, orders taken, and the run that goes on; every change is on disk at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        kept = _read(path)
        self._played: list[str] = kept.get("played", [])
        self._taken: list[str] = kept.get("taken", [])
        self._going_on: tuple[str, int] | None = tuple(kept["going_on"]) if kept.get("going_on") else None

    @property
    def going_on(self) -> tuple[str, int] | None:
        """The run that gets heartbeats, and the number of its last event."""
        return self._going_on

    def has_played(self, scene: str) -> bool:
        """Whether a scene was played before."""
        with self._lock:
            return scene in self._played

    def played(self, scene: str) -> None:
        """Remember that a scene was played."""
        with self._lock:
            self._played.append(scene)
            self._write()

    def take(self, *names: str) -> bool:
        """Whether an order is new, under all of its names; from now on it counts as taken.

        So it does also if the process dies before the run has begun: never begun is better than begun twice.
        """
        with self._lock:
            if not set(names).isdisjoint(self._taken):
                return False
            self._taken.extend(sorted(set(names)))
            self._write()
            return True

    def goes_on(self, run_id: str, seq: int) -> None:
        """Remember how far the run with the heartbeats is."""
        with self._lock:
            self._going_on = (run_id, seq)
            self._write()

    def _write(self) -> None:
        kept = {"played": self._played, "taken": self._taken, "going_on": self._going_on}
        beside = self._path.with_name(self._path.name + ".new")
        beside.write_text(json.dumps(kept))
        beside.replace(self._path)


def _read(path: Path) -> dict[str, Any]:
    """The kept state; nothing where there is none or it cannot be read, as on the very first start."""
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}
