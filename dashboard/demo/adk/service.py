"""Starts the reference service: a real `adk api_server` as a child of this process, and what it is told."""

import http.client
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dashboard.demo.adk.served.reference import mail, requests
from dashboard.embedded.processes import Child, Processes
from dashboard.embedded.trouble import Trouble

HERE = Path(__file__).parent / "served"
START_S = 120
WORDS = "REFERENCE_ADK_WORDS"  # as in reference.inside.serve, which cannot be imported without google-adk
# Nothing of the product's own: its secrets are no business of an agent.
KEPT = re.compile(r"(PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|SSL_CERT_\w+|\w+_PROXY|\w+_proxy|AWS_\w+)\Z")


@dataclass(frozen=True)
class Service:
    """One service that is to run. `files` is a folder for its artifacts and for the book of model requests."""

    python: Path
    port: int
    database_url: str = field(repr=False)
    mail: str  # host:port
    files: Path
    s3: str = ""  # s3://BUCKET/PREFIX?endpoint=URL instead of the folder

    @property
    def book(self) -> Path:
        """Where the model writes its requests down."""
        return self.files / "requests.jsonl"

    @property
    def artifacts(self) -> Path:
        """The folder of the artifacts, where no S3 store is named."""
        return self.files / "artifacts"

    def start(self, processes: Processes) -> Child:
        """Start it and wait until it answers. Raises Trouble."""
        self.artifacts.mkdir(mode=0o700, parents=True, exist_ok=True)
        child = processes.start(
            "adk",
            [self.python, "-m", "reference.inside.serve"],
            env=self._environ(),
            cwd=HERE,
        )
        processes.wait_until(lambda: apps(self.port) is not None or not child.alive, "google-adk", START_S)
        if not child.alive:
            processes.forget(child)
            raise Trouble(f"google-adk ended at once: {child.last_words()} (its log: {child.log})")
        return child

    def _environ(self) -> dict[str, str]:
        words = [
            *("api_server", "--host", "127.0.0.1", "--port", str(self.port)),
            *("--session_service_uri", with_scheme(self.database_url, "postgresql+asyncpg")),
            *("--memory_service_uri", with_scheme(self.database_url, "postgresql")),
            *("--artifact_service_uri", self.s3 or self.artifacts.resolve().as_uri()),
            str(HERE / "apps"),
        ]
        kept = {name: value for name, value in os.environ.items() if KEPT.match(name)}
        told = {WORDS: json.dumps(words), mail.VARIABLE: self.mail, requests.VARIABLE: str(self.book)}
        return {**kept, **_region(kept), **told, "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "ignore"}


def with_scheme(url: str, scheme: str) -> str:
    """A database's URL under another scheme."""
    return f"{scheme}://{url.partition('://')[2]}"


def apps(port: int) -> list[str] | None:
    """The apps that the service on a port says it has; None where nobody answers like one."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/list-apps")
        answer = connection.getresponse()
        told = json.loads(answer.read()) if answer.status == http.client.OK else None
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return told if isinstance(told, list) else None


def _region(environ: Mapping[str, str]) -> dict[str, str]:
    """A region for S3 where none is named; most stores do not care which."""
    return (
        {}
        if "AWS_REGION" in environ
        else {"AWS_DEFAULT_REGION": environ.get("AWS_DEFAULT_REGION", "us-east-1")}
    )
