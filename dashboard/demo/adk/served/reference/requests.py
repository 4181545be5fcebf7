"""The model's own book: one JSON line for each request, so that anybody can count what the model was asked.

It outlives the process, and it is what makes "refused N times so far" true across sessions and restarts.
"""

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

VARIABLE = "REFERENCE_REQUESTS"


@dataclass(frozen=True)
class Request:
    """One request to the model; `answer` is the kind of move it was answered with."""

    user: str
    session: str
    invocation: str
    agent: str
    script: str
    answer: str
    streaming: bool


class Book:
    """The file of requests, by default the one that the environment names; without a file nothing is kept."""

    def __init__(self, path: Path | None = None) -> None:
        named = os.environ.get(VARIABLE)
        self._path = path or (Path(named) if named else None)

    def earlier(self, user: str, agent: str, script: str) -> list[Request]:
        """The requests of one user to one agent under one script, oldest first."""
        wanted = (user, agent, script)
        return [one for one in self.all() if (one.user, one.agent, one.script) == wanted]

    def all(self) -> list[Request]:
        """Every request, oldest first. A last line that was cut short by a kill is no request."""
        if self._path is None or not self._path.exists():
            return []
        whole, _, _ = self._path.read_text().rpartition("\n")
        lines = [
            json.loads(line) for line in whole.splitlines() if line.startswith("{") and line.endswith("}")
        ]
        return [Request(**{name: line[name] for name in Request.__dataclass_fields__}) for line in lines]

    def write(self, request: Request) -> None:
        """Write one request down, in one step."""
        if self._path is None:
            return
        line = json.dumps({"at": round(time.time(), 3), **asdict(request)}) + "\n"
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)
