"""Reference services for tests, in the newest supported line of google-adk and in the oldest.

Their environments are kept from run to run, in SECONDLOOK_ADK_ENVS or ~/.cache/secondlook. A service is shared by all
tests of a version; who kills it leaves it so, and the next test that asks for it finds it running again.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import httpx
import pytest

from dashboard.demo.adk import environment
from dashboard.embedded.postgres import free_port
from dashboard.embedded.processes import Processes
from dashboard.embedded.trouble import Trouble
from tests.cluster import TestServers
from tests.real.adk import running
from tests.real.adk.mailbox import Mailbox
from tests.real.adk.running import Reference

VERSIONS = ("2.13.0", "1.39.1")
S3_SERVER = "moto[server]==5.2.5"
Start = Callable[..., AbstractContextManager[Reference]]


def environments() -> Path:
    """Where the environments are kept."""
    return environment.root(Path.home() / ".cache" / "secondlook")


def _say(sentence: str) -> None:
    sys.stderr.write(f"\n{sentence}\n")


@pytest.fixture(scope="session")
def adk_environments() -> dict[str, Path]:
    """The Python of each version's environment."""
    try:
        return {version: environment.adk(environments(), version, _say) for version in VERSIONS}
    except Trouble as trouble:
        pytest.skip(f"google-adk cannot be installed here: {trouble}")


@pytest.fixture(scope="session")
def mailbox() -> Iterator[Mailbox]:
    """The mail server that every service sends to."""
    with Mailbox() as mailbox:
        yield mailbox


@pytest.fixture(scope="session")
def service(
    adk_environments: dict[str, Path],
    servers: TestServers,
    mailbox: Mailbox,
    tmp_path_factory: pytest.TempPathFactory,
) -> Start:
    """`with service(version) as reference:` runs one more service, with a database of its own."""

    def start(version: str, *, s3: str = "") -> AbstractContextManager[Reference]:
        files = tmp_path_factory.mktemp(f"adk-{version}")
        return running.reference(version, adk_environments[version], servers, mailbox.address, files, s3=s3)

    return start


@pytest.fixture(scope="session", params=VERSIONS)
def shared_reference(request: pytest.FixtureRequest, service: Start) -> Iterator[Reference]:
    """The service of one version that the tests share; ask for `reference`."""
    with service(request.param) as reference:
        yield reference


@pytest.fixture
def reference(shared_reference: Reference) -> Reference:
    """A running reference service, in each version in turn."""
    shared_reference.make_sure_it_runs()
    return shared_reference


@pytest.fixture(scope="session")
def s3_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that speaks S3, a real process in an environment of its own."""
    try:
        python = environment.prepare(environments() / "moto", [S3_SERVER], _say)
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
