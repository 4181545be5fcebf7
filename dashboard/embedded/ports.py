"""Ports of this machine: taking one, and asking who answers there."""

import http.client
import socket

from dashboard.embedded.trouble import Trouble


def listen(port: int) -> socket.socket:
    """Take a port of this machine, before anybody else does."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen(256)
    except PermissionError:
        raise Trouble(f"Port {port} is for root alone; choose one above 1023 with --port.") from None
    except OSError:
        raise Trouble(f"Port {port} is in use; choose another with --port.") from None
    return listening


def answers(port: int) -> bool:
    """Whether the pages' process says that it lives."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
