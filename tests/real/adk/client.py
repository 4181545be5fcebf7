"""Talks to a reference service as its own clients do: sessions, messages, answers, disconnects."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any
from uuid import uuid4

import httpx

Frame = dict[str, Any]
PATIENCE_S = 30.0
INJECTABLE = ("author", "invocationId", "content", "timestamp")


class Client:
    """One service by its URL."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx.Client(base_url=url, timeout=PATIENCE_S, trust_env=False)

    def new_session(
        self,
        app: str = "support",
        user: str = "",
        session: str = "",
        events: Sequence[Mapping[str, Any]] = (),
    ) -> "Conversation":
        """A session, by default of a user that nobody else uses; `events` are injected ready-made."""
        user, session = user or f"user-{uuid4().hex[:8]}", session or f"s-{uuid4().hex[:8]}"
        body: dict[str, Any] = {"sessionId": session}
        if events:
            body["events"] = list(events)
        self.http.post(f"/apps/{app}/users/{user}/sessions", json=body).raise_for_status()
        return Conversation(self, app, user, session)


class Conversation:
    """One session of one user with one app."""

    def __init__(self, client: Client, app: str, user: str, session: str) -> None:
        self.client, self.app, self.user, self.session = client, app, user, session
        self.customer = f"C-{uuid4().hex[:6]}"  # whom this conversation is about, and nobody else's

    @property
    def path(self) -> str:
        return f"/apps/{self.app}/users/{self.user}/sessions/{self.session}"

    def again(self) -> "Conversation":
        """A fresh session of the same user about the same customer."""
        fresh = self.client.new_session(self.app, self.user)
        fresh.customer = self.customer
        return fresh

    def message(self, script: str) -> str:
        """The user's words that make the model play a script."""
        return f"[script:{script}] Please refund customer {self.customer}."

    def body(self, script: str = "", **more: Any) -> dict[str, Any]:
        """The body of `POST /run_sse`; without a script, whatever `more` says."""
        said = {"newMessage": {"role": "user", "parts": [{"text": self.message(script)}]}} if script else {}
        return {"appName": self.app, "userId": self.user, "sessionId": self.session, **said, **more}

    def frames(self, script: str = "", **more: Any) -> Iterator[Frame]:
        """What comes over `/run_sse`, as it comes. To close this generator is to disconnect."""
        with self.client.http.stream("POST", "/run_sse", json=self.body(script, **more)) as answer:
            answer.raise_for_status()
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))

    def send(self, script: str = "", **more: Any) -> list[Frame]:
        """Everything that comes until the end of the run."""
        return list(self.frames(script, **more))

    def answer(self, *responses: Mapping[str, Any], **more: Any) -> list[Frame]:
        """Answer open calls from outside: each is {"id", "name", "response"}."""
        parts = [{"functionResponse": dict(one)} for one in responses]
        return self.send(newMessage={"role": "user", "parts": parts}, **more)

    def leave_after(self, script: str, leave: Callable[[Frame], bool], **more: Any) -> list[Frame]:
        """Read until a frame of which `leave` says so, and disconnect there; what came until then."""
        seen = []
        with closing(self.frames(script, **more)) as coming:
            for frame in coming:
                seen.append(frame)
                if leave(frame):
                    break
        return seen

    @contextmanager
    def sending(self, script: str, **more: Any) -> Iterator["Sending"]:
        """A message under way while the test does something else."""
        sending = Sending(self.frames(script, **more))
        sending.thread.start()
        yield sending
        sending.thread.join(PATIENCE_S)
        assert not sending.thread.is_alive(), "the run did not end"

    def events(self) -> list[Frame]:
        """The events that the service itself shows of this session."""
        answer = self.client.http.get(self.path)
        answer.raise_for_status()
        return list(answer.json()["events"])

    def history(self) -> list[Frame]:
        """The events as they may be injected into another session: without what only ADK itself may claim."""
        return [{name: event[name] for name in INJECTABLE if name in event} for event in self.events()]

    def delete(self) -> None:
        self.client.http.delete(self.path).raise_for_status()


class Sending:
    """`frames` came so far; `error` is how the connection ended, if it broke."""

    def __init__(self, coming: Iterator[Frame]) -> None:
        self.frames: list[Frame] = []
        self.error: httpx.HTTPError | None = None
        self._coming = coming
        self.thread = threading.Thread(target=self._read, daemon=True)

    def wait_for(self, seen: Callable[[Frame], bool]) -> Frame:
        """The first frame of which `seen` says so."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            found = next((frame for frame in list(self.frames) if seen(frame)), None)
            if found is not None:
                return found
            time.sleep(0.02)
        raise AssertionError(f"it never came; only {self.frames}")

    def _read(self) -> None:
        try:
            for frame in self._coming:
                self.frames.append(frame)  # the test looks at it meanwhile
        except httpx.HTTPError as error:
            self.error = error


def parts(frames: Sequence[Frame], kind: str) -> list[dict[str, Any]]:
    """The parts of one kind (`functionCall`, `functionResponse`, `text`) in the final frames, in order."""
    return [
        part[kind]
        for frame in frames
        if not frame.get("partial")
        for part in (frame.get("content") or {}).get("parts") or []
        if part.get(kind)
    ]


def called(frames: Sequence[Frame]) -> list[str]:
    """The names of the calls, in order."""
    return [call["name"] for call in parts(frames, "functionCall")]


def calls(name: str) -> Callable[[Frame], bool]:
    """Whether a frame calls that tool."""
    return lambda frame: name in called([frame])
