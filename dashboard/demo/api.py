"""The demo runtime's side of the machine API: patient while it is away, obedient when it says no."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx

CALL_S = 10.0
RETRY_S = 2.0


class Stopped(Exception):
    """The runtime is being stopped while a call waits to be made."""


class Rejected(Exception):
    """The API has understood and said no; asking again would change nothing."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status


class Api:
    """Calls the machine API at `url` (without `/api/v1`); safe to share between threads."""

    def __init__(
        self,
        url: str,
        token: str,
        stop: threading.Event,
        say: Callable[[str], None],
        *,
        retry_s: float = RETRY_S,
    ) -> None:
        self._url = url.rstrip("/")
        self._stop = stop
        self._say = say
        self._retry_s = retry_s
        headers = {"authorization": f"Bearer {token}", "user-agent": "secondlook-demo"}
        self._client = httpx.Client(headers=headers, timeout=CALL_S, trust_env=False)

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        """Make one call and return status and answer, trying again while the API is away or overloaded.

        Every call of the API may be repeated. Raises Rejected for a 4xx, Stopped when the runtime stops.
        """
        announced = ""
        while not self._stop.is_set():
            status, answer, trouble = self._try(method, path, body)
            if not trouble:
                return status, answer
            if trouble != announced:
                self._say(f"{trouble}; trying again until it does.")
                announced = trouble
            self._stop.wait(self._retry_s)
        raise Stopped

    def start_run(self, body: dict[str, Any]) -> tuple[str, bool]:
        """Register a run; returns its id, and whether it is new."""
        status, answer = self.call("POST", "/runs", body)
        return str(answer["id"]), status == 201

    def is_running(self, run_id: str) -> bool:
        """Whether the product still counts the run as running."""
        return bool(self.call("GET", f"/runs/{run_id}")[1].get("status") == "running")

    def propose(self, body: dict[str, Any]) -> dict[str, Any]:
        """Propose a campaign; returns its id and status."""
        return self.call("POST", "/campaigns", body)[1]

    def _try(self, method: str, path: str, body: Any) -> tuple[int, dict[str, Any], str]:
        """Status, answer, and what stands in the way of one, in words; empty if nothing does."""
        try:
            answer = self._client.request(method, f"{self._url}/api/v1{path}", json=body)
        except httpx.TransportError:
            return 0, {}, f"The API at {self._url} does not answer yet"
        if answer.status_code >= 500 or answer.status_code == 429:
            return 0, {}, f"The API at {self._url} is not ready ({answer.status_code})"
        try:
            said = answer.json()
        except ValueError:
            said = None
        if not isinstance(said, dict):
            said = {}
        if answer.status_code >= 400:
            raise Rejected(answer.status_code, str(said.get("detail") or answer.reason_phrase))
        return answer.status_code, said, ""


class Journal:
    """The journal of one run: numbers its events and posts each before anything else happens."""

    def __init__(self, api: Api, run_id: str, *, seq: int = 0) -> None:
        self._api = api
        self.run_id = run_id
        self.seq = seq  # of the last event posted

    def post(self, kind: str, **fields: Any) -> None:
        """Post the next event, and return once the API has it. Raises what Api.call raises."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        event = {"seq": self.seq + 1, "type": kind, "at": at, **fields}
        self._api.call("POST", f"/runs/{self.run_id}/events", {"events": [event]})
        self.seq += 1

    def lose(self) -> None:
        """Give a number away without posting anything under it."""
        self.seq += 1
