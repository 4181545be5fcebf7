"""One browser or runtime: a kept connection, its cookies, and how long each answer took."""

import http.client
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import SimpleCookie
from urllib.parse import urlencode

TIMEOUT_S = 60
IDLE_S = 1  # after which a kept connection may have been given up by the server
_FORM_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, and after how many seconds."""

    status: int
    body: bytes
    seconds: float


class Client:
    """Asks one server, over one connection as long as that lasts. RuntimeError for an answer that was not expected."""

    def __init__(self, port: int, headers: Mapping[str, str] | None = None) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
        self._headers = dict(headers or {})
        self.cookies: dict[str, str] = {}
        self._last = -math.inf

    def get(self, address: str) -> Answer:
        """Ask for a page."""
        return self._ask("GET", address, None, {}, (200,))

    def post(self, address: str, body: bytes, kind: str, *, expect: tuple[int, ...]) -> Answer:
        """Send a body of this content type."""
        return self._ask("POST", address, body, {"Content-Type": kind}, expect)

    def sign_in(self, email: str, password: str) -> None:
        """Sign in on the sign-in page, as a person does."""
        address = "/accounts/login/"
        found = _FORM_TOKEN.search(self.get(address).body.decode())
        fields = {"login": email, "password": password, "csrfmiddlewaretoken": found[1] if found else ""}
        self.post(address, urlencode(fields).encode(), "application/x-www-form-urlencoded", expect=(302,))

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def _ask(
        self, method: str, address: str, body: bytes | None, more: Mapping[str, str], expect: tuple[int, ...]
    ) -> Answer:
        headers = {**self._headers, **more}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if time.perf_counter() > self._last + IDLE_S:
            self._connection.close()
            self._connection.connect()
        began = time.perf_counter()
        self._connection.request(method, address, body, headers)
        response = self._connection.getresponse()
        told = response.read()
        self._last = time.perf_counter()
        seconds = self._last - began
        for line in response.headers.get_all("Set-Cookie") or []:
            self.cookies |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}
        if response.status not in expect:
            raise RuntimeError(f"{method} {address} was answered with {response.status}: {told[:300]!r}")
        return Answer(response.status, told, seconds)
