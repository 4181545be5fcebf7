"""A mail server that delivers nothing: every message becomes a file (see mailbox).

    python -m dashboard.embedded.catcher --dir FOLDER --fd N

N is a socket that already listens, handed on by whoever started it.
"""

import argparse
import asyncio
import signal
import socket
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import SMTP, Envelope

from dashboard.embedded import mailbox

LIMIT_BYTES = 30 * 1024 * 1024


class Keeper:
    """What aiosmtpd asks about each message."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Envelope) -> str:
        """Keep it, then say so: a sender that hears 250 can rely on it."""
        content = envelope.content
        raw = content.encode() if isinstance(content, str) else content or b""
        try:
            name = mailbox.store(self.folder, envelope.mail_from or "", envelope.rcpt_tos, raw)
        except OSError as error:
            return f"452 4.3.1 cannot be kept: {error.strerror}"
        return f"250 2.0.0 kept as {name}"


async def serve(listening: socket.socket, folder: Path) -> None:
    """Take mail until SIGTERM."""
    loop = asyncio.get_running_loop()
    ending = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ending.set)

    def session() -> SMTP:
        return SMTP(
            Keeper(folder), hostname="catcher.localhost", enable_SMTPUTF8=True, data_size_limit=LIMIT_BYTES
        )

    server = await loop.create_server(session, sock=listening)
    await ending.wait()
    server.close()


def main() -> None:
    """The process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--fd", type=int, required=True)
    options = parser.parse_args()
    options.dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    asyncio.run(serve(socket.socket(fileno=options.fd), options.dir))


if __name__ == "__main__":
    main()
