"""Runs one turn of an agent over ADK's POST /run_sse and tells what happens while it happens.

ADK waits for whoever reads slowly, and cancels the run of whoever leaves: so this is read promptly, closing the
generator ends the run, and nothing here is asked for a second time. Whoever iterates gets a word every `tick_s`
seconds, also while a name is looked up or a byte drips in now and then; this is why it reads its own socket.
"""

import json
import math
import re
import socket
import threading
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

from approvals.connectors import addresses, answers, line, net
from approvals.connectors.adk import wire
from approvals.connectors.adk.orders import Closed, ErrorFrame, Opened, StreamItem, StreamOrder, Tick, Told

READ_SIZE = 64 * 1024
ANSWER_LIMIT = 64 * 1024
_KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}  # seconds, seconds, times
NOT_KNOWN = "so whether the run was started is not known"
OPEN_END = "so how the run ended is not known from it"


def stream(order: StreamOrder) -> Generator[StreamItem, None, None]:
    """The items of one turn as they come; the last one is always Closed, and no trouble is ever raised.

    Closing the generator closes the connection at once, which makes ADK cancel the run.
    """
    try:
        base = addresses.checked(order.place.base_url, order.place.allowed_hosts)
        url = addresses.below(base, "/run_sse")
        body = json.dumps(
            {
                "appName": order.app,
                "userId": order.user,
                "sessionId": order.session_id,
                "streaming": order.streaming,
                "newMessage": dict(order.message),
            },
            allow_nan=False,
        ).encode()
    except addresses.BadAddress as bad:
        yield _refused(str(bad))
        return
    except (TypeError, ValueError, RecursionError):
        yield _refused("The message cannot be written as JSON")
        return
    yield from _Exchange(order, url, body).items()


def _refused(reason: str) -> Closed:
    return Closed("refused", f"{reason.removesuffix('.')}; nothing was sent.")


class _Broken(Exception):
    """The exchange is over; carries the last item."""

    def __init__(self, closed: Closed) -> None:
        super().__init__(closed.detail)
        self.closed = closed


class _Exchange:
    """One request and its answer."""

    def __init__(self, order: StreamOrder, url: httpx.URL, body: bytes) -> None:
        self._order = order
        self._url = url
        self._request = _head_of(url, len(body)) + body
        self._limit = net.Deadline.after(order.limit_s)
        # The first answer has to come by then; after it, only the limit counts.
        self._deadline = self._limit.or_after(order.place.timeout_s)
        self._next_tick = time.monotonic() + order.tick_s
        self._sock: socket.socket | None = None
        self._wrote = self._opened = False

    def items(self) -> Iterator[StreamItem]:
        """Everything that comes, with Closed at the end."""
        try:
            yield from self._connect()
            yield from self._send()
            yield from self._answer()
        except _Broken as broken:
            yield broken.closed
        except wire.Garbage as garbage:
            yield self._trouble(f"ADK {garbage}")
        except OSError as error:
            yield self._after(error)
        finally:
            if self._sock is not None:
                self._sock.close()

    def _connect(self) -> Iterator[Tick]:
        dial = _Dial(self._url, self._deadline)
        threading.Thread(target=dial.run, name="dial", daemon=True).start()
        try:
            while not dial.over.wait(self._patience()):
                yield from self._tick()
        except BaseException:
            dial.leave()
            raise
        self._sock = dial.take()

    def _send(self) -> Iterator[Tick]:
        rest = memoryview(self._request)
        while rest:
            try:
                self._socket.settimeout(self._patience())
                sent = self._socket.send(rest)
            except TimeoutError:
                yield from self._tick()
                continue
            except OSError:
                if not self._wrote:
                    raise
                return  # it may have answered and closed before it had read everything
            self._wrote = True
            rest = rest[sent:]

    def _answer(self) -> Iterator[StreamItem]:
        received = b""
        while (found := wire.split_head(received)) is None:
            piece = yield from self._receive()
            if not piece:
                raise wire.Garbage("closed the connection without an answer")
            received += piece
        head, rest = found
        if head.status != 200 or head.media_type != "text/event-stream":
            said = yield from self._said(head, rest)
            yield _not_opened(head, said)
            return
        body = wire.Body(head)
        self._opened, self._deadline = True, self._limit
        yield Opened()
        yield from self._events(body, rest)

    def _events(self, body: wire.Body, rest: bytes) -> Iterator[StreamItem]:
        events = wire.Events(self._order.most_bytes)
        received = rest
        while True:
            for piece in body.feed(received):
                for data in events.feed(piece):
                    yield _item(data)
                    self._next_tick = time.monotonic() + self._order.tick_s
            if body.done:
                break
            received = yield from self._receive()
            if not received:
                if not body.close():
                    raise wire.Garbage("broke the stream off")
                break
        if events.pending:
            raise wire.Garbage("ended the stream in the middle of an event")
        yield Closed("ended", "The stream came to its end.")

    def _said(self, head: wire.Head, rest: bytes) -> Generator[Tick, None, str]:
        """What an answer that is no stream gives as its reason; trouble changes nothing, the status has decided."""
        try:
            body = wire.Body(head)
            said = b"".join(body.feed(rest))
            while not body.done and len(said) <= ANSWER_LIMIT:
                piece = yield from self._receive()
                if not piece:
                    break
                said += b"".join(body.feed(piece))
        except (_Broken, OSError, wire.Garbage):
            return ""
        return answers.quoted(said) if len(said) <= ANSWER_LIMIT else ""

    def _receive(self) -> Generator[Tick, None, bytes]:
        """The next bytes, b"" at the end of the connection."""
        while True:
            if time.monotonic() >= self._next_tick:
                yield from self._tick()
            self._socket.settimeout(self._patience())
            try:
                return self._socket.recv(READ_SIZE)
            except TimeoutError:
                continue

    @property
    def _socket(self) -> socket.socket:
        assert self._sock is not None, "connected"
        return self._sock

    def _patience(self) -> float:
        """Seconds to wait for one thing now; raises _Broken once the time is over."""
        try:
            left = self._deadline.left()
        except TimeoutError:
            raise _Broken(self._too_late()) from None
        return max(0.001, min(left, self._next_tick - time.monotonic()))

    def _tick(self) -> Iterator[Tick]:
        if time.monotonic() >= self._next_tick:
            yield Tick()
            self._next_tick = time.monotonic() + self._order.tick_s

    def _too_late(self) -> Closed:
        if self._opened:
            return Closed(
                "broken", f"The run took longer than {self._order.limit_s:g} seconds, so it was left."
            )
        if not self._wrote:
            return _refused("The runtime could not be reached: it took too long")
        seconds = min(self._order.place.timeout_s, self._order.limit_s)
        return Closed("in_doubt", f"ADK did not answer within {seconds:g} seconds, {NOT_KNOWN}.")

    def _after(self, error: OSError) -> Closed:
        if not self._wrote:
            return _refused(f"The runtime could not be reached: {net.why(error)}")
        return self._trouble("The connection broke")

    def _trouble(self, what: str) -> Closed:
        if self._opened:
            return Closed("broken", f"{what}, {OPEN_END}.")
        return Closed("in_doubt", f"{what}, {NOT_KNOWN}.")


def _head_of(url: httpx.URL, length: int) -> bytes:
    lines = (
        f"POST {url.raw_path.decode('ascii')} HTTP/1.1",
        f"host: {url.netloc.decode('ascii')}",
        "content-type: application/json",
        f"content-length: {length}",
        "accept: text/event-stream",
        "accept-encoding: identity",
        "user-agent: Secondlook",
        "connection: close",
    )
    return "\r\n".join((*lines, "", "")).encode("ascii")


def _not_opened(head: wire.Head, said: str) -> Closed:
    answer = answers.status_words(head.status)
    if 300 <= head.status < 400:
        return Closed("refused", f"ADK answered with a redirect ({answer}), which is not followed.")
    if 400 <= head.status < 500:
        return Closed("refused", f"ADK refused the run ({answer}){said}.")
    if head.status >= 500:
        return Closed("in_doubt", f"ADK answered with an error ({answer}){said}, {NOT_KNOWN}.")
    what = "a page" if head.media_type == "text/html" else "something else"
    return Closed("in_doubt", f"The address answered with {what} instead of ADK's stream, {NOT_KNOWN}.")


def _item(data: bytes) -> Told | ErrorFrame:
    try:
        event = _DECODER.decode(data.decode())
        if _SUSPECT.search(data):
            event = _presentable(event)
    except (ValueError, RecursionError):
        raise wire.Garbage("sent an event that is not JSON") from None
    if not isinstance(event, dict):
        raise wire.Garbage("sent an event that is no JSON object")
    if "error" in event and "author" not in event:
        details = event.get("error_details")
        return ErrorFrame(str(event["error"]), details if isinstance(details, dict) else {})
    return Told(event)


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


# A number that is none is read as null, as ADK itself writes it.
_DECODER = json.JSONDecoder(parse_constant=lambda _word: None, parse_float=_finite)
# Escapes of characters that no store takes: NUL and halves of surrogate pairs.
_SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_UNPRESENTABLE = re.compile("[\x00\ud800-\udfff]")


def _presentable(value: Any) -> Any:
    """The value with a replacement character for each one that no store takes."""
    if isinstance(value, str):
        return _UNPRESENTABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_presentable(item) for item in value]
    if isinstance(value, dict):
        return {_presentable(key): _presentable(item) for key, item in value.items()}
    return value


@dataclass(slots=True)
class _Dial:
    """Looks a name up and connects, in a thread, because none of it can be waited for in small steps."""

    url: httpx.URL
    deadline: net.Deadline
    over: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _found: socket.socket | OSError | None = None
    _left: bool = False

    def run(self) -> None:
        """Connect; close again where nobody waits any more."""
        try:
            found: socket.socket | OSError = self._dial()
        except OSError as error:
            found = error
        with self._lock:
            self._found = found
            if self._left:
                self._close()
        self.over.set()

    def take(self) -> socket.socket:
        """The connection, once it is over; raises what went wrong."""
        assert self._found is not None, "over"
        if isinstance(self._found, OSError):
            raise self._found
        return self._found

    def leave(self) -> None:
        """Nobody waits any more: a connection that is there, or comes late, is closed unused."""
        with self._lock:
            self._left = True
            self._close()

    def _close(self) -> None:
        if isinstance(self._found, socket.socket):
            self._found.close()

    def _dial(self) -> socket.socket:
        endpoints = net.resolve(self.url.host, addresses.port_of(self.url), self.deadline)
        sock = net.connect(endpoints, self.deadline)
        # A run may be silent for long: this is how a machine that vanished is noticed nevertheless.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVE.items():
            if hasattr(socket, name):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        if self.url.scheme != "https":
            return sock
        try:
            sock.settimeout(self.deadline.left())
            return line.tls().wrap_socket(sock, server_hostname=self.url.raw_host.decode("ascii"))
        except ValueError as error:
            sock.close()
            raise OSError(str(error)) from error
        except BaseException:
            sock.close()
            raise
