"""Reference services for tests, in the newest supported line of google-adk and in the oldest.

Their environments are kept from run to run, in SECONDLOOK_ADK_ENVS or ~/.cache/secondlook. A service is shared by all
tests of a version; who kills it leaves it so, and the next test that asks for it finds it running again.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from pytest_django.plugin import DjangoDbBlocker

from dashboard.demo.adk import environment
from dashboard.embedded.trouble import Trouble
from dashboard.embedded.valkey import Valkey
from tests.cluster import TestServers
from tests.real.adk import running
from tests.real.adk.mailbox import Mailbox
from tests.real.adk.product import Product, product_of
from tests.real.adk.running import Reference
from tests.real.conftest import environments, say

VERSIONS = ("2.13.0", "1.39.1")
Start = Callable[..., AbstractContextManager[Reference]]


@pytest.fixture(scope="session")
def adk_environments() -> dict[str, Path]:
    """The Python of each version's environment."""
    try:
        return {version: environment.adk(environments(), version, say) for version in VERSIONS}
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


@pytest.fixture(scope="module")
def shared_product(
    shared_reference: Reference,
    servers: TestServers,
    broker: Valkey,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Product]:
    """The product that the tests of a module share; ask for `product`."""
    del django_db_setup
    shared_reference.make_sure_it_runs()
    logs = tmp_path_factory.mktemp("product")
    with django_db_blocker.unblock(), product_of(shared_reference, servers, broker, logs) as product:
        yield product


@pytest.fixture
def product(shared_product: Product, reference: Reference) -> Product:
    """All processes of the product beside the running reference service, whose store they read."""
    del reference
    return shared_product
