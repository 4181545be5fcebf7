"""A real browser that meets the gallery: a small server in this process, no database, the product's own policy."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from playwright.sync_api import Browser, ConsoleMessage, Page

from tests.browsers import chromium
from tests.templates.gallery import FRAGMENTS, PAGES, render

__all__ = ["chromium"]

HTML_MAIL = "<h1>Dear Anna,</h1><p>you leave at <b>09:40</b>.</p><script>alert(1)</script>"
# The addresses that the sample pages ask for their fragments.
FRAGMENT_OF = {
    "/w/northwind/live/": "queue-live",
    "/w/northwind/jobs/1/": "run-job",
    "/w/northwind/campaigns/1/progress/": "campaign-progress",
    "/w/northwind/campaigns/1/": "campaign-preview",
    "/w/northwind/datasets/00000000-0000-0000-0000-000000000001/live": "dataset-progress",
    "/w/northwind/setup/00000000-0000-0000-0000-000000000001/live": "setup-reading",
}


def fragment_at(path: str) -> str:
    """The fragment that a sample page asks for at this path, whichever of its things it is about; "" for none."""
    return FRAGMENT_OF.get(path) or FRAGMENT_OF.get(re.sub(r"\d{12}/live$", f"{1:012}/live", path), "")


class Gallery(BaseHTTPRequestHandler):
    """Answers a page by its name, a fragment by its address, and whatever static/ holds."""

    def do_GET(self) -> None:
        # A page that stays open for a while asks again and again, each list and runtime of the samples by its own id.
        path = re.sub(r"[1-9](?=/live$)", "1", self.path.partition("?")[0])
        if path.startswith("/static/"):
            file = Path(str(finders.find(path.removeprefix("/static/"))))
            self.answer(file.read_bytes(), kind=mimetypes.guess_type(path)[0] or "")
        elif path == "/frame/":
            self.answer(HTML_MAIL.encode(), policy="sandbox")
        elif path == "/signed-out/":
            self.answer(b"", status=302)
        elif fragment := fragment_at(path):
            self.answer(render(*FRAGMENTS[fragment]).encode())
        elif path.strip("/") in PAGES:
            self.answer(render(*PAGES[path.strip("/")]).encode(), policy=_policy())
        else:
            self.answer(b"nothing here", status=404)

    def answer(
        self, body: bytes, *, status: int = 200, kind: str = "text/html; charset=utf-8", policy: str = ""
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("content-security-policy", policy)
        if status == 302:
            self.send_header("location", "/login")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Keep quiet."""


def _policy() -> str:
    directives = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    return "; ".join(f"{name} {' '.join(values)}" for name, values in directives.items())


@pytest.fixture(scope="session")
def gallery() -> Iterator[str]:
    """The gallery's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Gallery)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def look(chromium: Browser, gallery: str) -> Iterator[Callable[..., Page]]:
    """look(width, scheme) -> a page that meets the gallery; a complaint of its console fails the test.

    `noisy` is for tests that cause complaints on purpose.
    """
    complaints: list[str] = []
    contexts = []

    def complain(message: ConsoleMessage) -> None:
        # The script in the sample mail is refused by its sandbox: that complaint is what the sandbox is for.
        if message.type in ("error", "warning") and "/frame/" not in message.text:
            complaints.append(message.text)

    def opened(
        width: int = 1280, scheme: str = "light", *, noisy: bool = False, javascript: bool = True
    ) -> Page:
        context = chromium.new_context(
            base_url=gallery,
            viewport={"width": width, "height": 860},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
            java_script_enabled=javascript,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5000)
        if not noisy:
            page.on("console", complain)
            page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
