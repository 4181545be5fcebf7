"""A threaded TCP listener: one thread a connection, every one ended when the test is over."""

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Self

PATIENCE_S = 20.0


class Listener:
    """Accepts connections on a free port of 127.0.0.1 and hands each, numbered from 1, to `serve`."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.tls = tls
        self.over = threading.Event()
        self.connections = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def serve(self, sock: socket.socket, number: int) -> None:
        """Play the server's side of one connection."""
        raise NotImplementedError

    def hang(self) -> None:
        """Say nothing more, and keep the connection open, until the test is over."""
        self.over.wait(PATIENCE_S)

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self._lock:
            still_open = list(self._open)
        for sock in still_open:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE_S)

    def _start(self, work: object, *args: object) -> None:
        thread = threading.Thread(target=work, args=args, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            self._start(self._handle, sock, self.connections)

    def _handle(self, sock: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError), self._kept(sock):
            sock.settimeout(PATIENCE_S)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.tls is not None:
                with self._kept(self.tls.wrap_socket(sock, server_side=True)) as safe:
                    self.serve(safe, number)
            else:
                self.serve(sock, number)

    @contextlib.contextmanager
    def _kept(self, sock: socket.socket) -> Iterator[socket.socket]:
        with self._lock:
            self._open.add(sock)
        try:
            yield sock
        finally:
            with self._lock:
                self._open.discard(sock)
            sock.close()


def reset(sock: socket.socket) -> None:
    """Close so that the other side sees a reset instead of an orderly end."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def unused_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
