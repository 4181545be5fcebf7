"""The one connection of a call: to addresses looked up beforehand, under one deadline, without proxies.

It also remembers whether the network took a byte of the request: until then nothing can have happened on the
other side, after that nobody can know without an answer.
"""

import ssl
from collections.abc import Iterable, Iterator, Sequence
from socket import socket
from typing import Any

import httpcore
import httpx

from approvals.connectors import net

# What can go wrong on a line.
TROUBLE = (
    OSError,  # includes time-outs and TLS
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
)


def tls() -> ssl.SSLContext:
    """Certificates of the public authorities and those that this machine trusts besides."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context


class Line(httpcore.NetworkBackend):
    """Opens connections to the given endpoints only, whatever host it is asked for."""

    def __init__(self, endpoints: Sequence[net.Endpoint], deadline: net.Deadline) -> None:
        self._endpoints = endpoints
        self.deadline = deadline
        self.wrote = False

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect; the host's name plays no part any more. Raises OSError."""
        return _Stream(net.connect(self._endpoints, self.deadline), self)


class _Stream(httpcore.NetworkStream):
    """A socket whose every wait is cut at the line's deadline."""

    def __init__(self, sock: socket, line: Line) -> None:
        self._sock = sock
        self._line = line
        self._broke: OSError | None = None

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = net.receive(self._sock, max_bytes, self._line.deadline)
        if not data and self._broke is not None:
            # The system tells of a reset once and of an end from then on: the write was told.
            raise self._broke
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        rest = memoryview(buffer)
        try:
            while rest:
                rest = rest[net.send(self._sock, rest, self._line.deadline) :]
                self._line.wrote = True
        except OSError as error:
            if not self._line.wrote:
                raise
            # This type tells the HTTP layer to look for an answer all the same: a runtime may refuse and
            # close before it has read the whole request.
            self._broke = error
            raise httpcore.WriteError(net.why(error)) from error

    def close(self) -> None:
        self._sock.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        self._sock.settimeout(self._line.deadline.left())
        try:
            return _Stream(ssl_context.wrap_socket(self._sock, server_hostname=server_hostname), self._line)
        except BaseException:
            self.close()
            raise

    def get_extra_info(self, info: str) -> Any:
        return {"socket": self._sock}.get(info)


def client(line: Line, url: httpx.URL) -> httpx.Client:
    """A client for this line and address that follows no redirects and asks no proxy."""
    transport = LineTransport(line, tls() if url.scheme == "https" else None)
    return httpx.Client(transport=transport, trust_env=False, follow_redirects=False)


class LineTransport(httpx.BaseTransport):
    """Sends httpx requests over a line: HTTP/1.1, one connection, no retries."""

    def __init__(self, line: Line, ssl_context: ssl.SSLContext | None) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=ssl_context, max_connections=1, retries=0, network_backend=line
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request; raises what the network or `httpcore` raises."""
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        assert isinstance(request.stream, httpx.SyncByteStream)
        answer = self._pool.handle_request(
            httpcore.Request(request.method, url, headers=request.headers.raw, content=request.stream)
        )
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer))

    def close(self) -> None:
        """Close the connection."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()
