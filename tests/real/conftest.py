"""What tests of whole processes need beside the product: environments that are kept, and a server that speaks S3."""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest

from dashboard.demo.adk import environment
from dashboard.embedded.postgres import free_port
from dashboard.embedded.processes import Processes
from dashboard.embedded.trouble import Trouble

S3_SERVER = "moto[server]==5.2.5"


def environments() -> Path:
    """Where the environments are kept."""
    return environment.root(Path.home() / ".cache" / "secondlook")


def say(sentence: str) -> None:
    sys.stderr.write(f"\n{sentence}\n")


@pytest.fixture(scope="session")
def s3_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that speaks S3, a real process in an environment of its own."""
    try:
        python = environment.prepare(environments() / "moto", [S3_SERVER], say)
    except Trouble as trouble:
        pytest.skip(f"There is no S3 server here: {trouble}")
    processes = Processes(tmp_path_factory.mktemp("s3"))
    port = free_port()
    processes.start("s3", [python, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)])
    url = f"http://127.0.0.1:{port}"
    try:
        processes.wait_until(partial(_answers, url), "the S3 server", 60)
        yield url
    finally:
        processes.stop_all()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2, trust_env=False).status_code < 500
    except httpx.HTTPError:
        return False
