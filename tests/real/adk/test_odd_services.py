"""The service is down, slow, of another version, no ADK at all, or sends too much: each is told, and the worker lives.

The runs are those of a real service, read from its database. What their runtime is said to be at is the odd one.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import httpx
import pytest
from django.test import Client

from approvals.access.actors import operator
from approvals.db.binding import bind
from approvals.models import Run
from approvals.services import setup
from tests.faults.lab import eventually
from tests.real.adk.client import Conversation
from tests.real.adk.mailbox import Mailbox
from tests.real.adk.product import PATIENCE_S, Product, words_of
from tests.real.adk.running import Reference
from tests.servers.adk import AdkServer, Turn, sample
from tests.servers.http import Answer, HttpServer, Request

pytestmark = pytest.mark.real

MIB = 1024 * 1024
LIMIT_S = 5
SILENCE_S = 3
_numbers = count(1)


class Service(AdkServer):
    """One that is ADK as far as anybody asks, of any version."""

    def __init__(self, *turns: Turn, version: str = "2.13.0") -> None:
        super().__init__(*turns)
        self.version = version

    def _session(self, request: Request) -> Answer:
        if request.method == "POST":
            return super()._session(request)
        told: object = {"/version": {"version": self.version}, "/list-apps": ["support"]}.get(request.target)
        return Answer(404) if told is None else Answer(200, json.dumps(told).encode())


class Pages(HttpServer):
    """One that answers everything with a page."""

    def answer(self, request: Request) -> Answer:
        page = b"<!doctype html><title>Sign in</title><h1>Sign in to go on</h1>"
        return Answer(200, page, (("content-type", "text/html; charset=utf-8"),))


@dataclass
class Done:
    """A conversation that went well, and its run."""

    conversation: Conversation
    run: Run


@pytest.fixture(scope="module")
def done(shared_product: Product) -> Iterator[Done]:
    shared_product.reference.make_sure_it_runs()
    conversation = shared_product.reference.new_session()
    conversation.send("says_429")
    yield Done(conversation, shared_product.observed(conversation))


def run_at(product: Product, done: Done, url: str, *, limit_s: int = 3600) -> Run:
    """The same run, as one of a runtime at this address.

    Such a runtime does not say what its apps are, so that a last word ends nothing: there the run is interrupted.
    """
    with bind(product.lab.workspace_id):
        runtime = setup.add_runtime(
            by=operator("tests"), name=f"odd {next(_numbers)}", kind="adk", base_url=url,
            database_url=product.reference.reader_url, silence_s=SILENCE_S, time_limit_s=limit_s,
        ).runtime  # fmt: skip
    found = Run.objects.filter(runtime=runtime, session_id=done.conversation.session)
    eventually(lambda: product.read(found.filter(status="interrupted").exists), "it is known", PATIENCE_S)
    return product.read(found.get)


@pytest.fixture(scope="module")
def admin(shared_product: Product) -> httpx.Client:
    """The browser of somebody who may look at how the workspace is set up."""
    product = shared_product
    with bind(product.lab.workspace_id):
        user = setup.add_member(by=operator("tests"), email="admin@example.com", roles=["admin"]).user
    signed_in = Client()
    signed_in.force_login(user)
    cookies = {"sessionid": signed_in.cookies["sessionid"].value}
    return httpx.Client(base_url=product.crew.url, cookies=cookies, timeout=20)


def setup_says(product: Product, admin: httpx.Client, sentence: str) -> bool:
    """Whether the page of the runtimes says so."""
    return sentence in words_of(admin.get(f"/w/{product.person.slug}/setup/").text)


def told(product: Product, run: Run) -> dict[str, Any]:
    """What the API tells of a run of any runtime."""
    with bind(product.lab.workspace_id):
        name = product.read(lambda: Run.objects.get(id=run.id).runtime.name)
        token = setup.create_token(by=operator("tests"), runtime=name).text
    answer = product.machine.get(f"/runs/{run.id}", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == httpx.codes.OK, answer.text
    return dict(answer.json())


def replayed(product: Product, run: Run) -> tuple[Run, str]:
    """(what a forced replay came to, the words of its job)."""
    new = product.forced(run)
    over = ("done", "failed", "in_doubt")
    eventually(lambda: product.job_of(new).status in over, "the replay is over", PATIENCE_S)
    return product.now(new), product.job_of(new).outcome


def newest(product: Product, done: Done) -> Run:
    """The attempt of the run at the real service that counts: the last one that began."""
    return [one for one in (done.run, *product.replays_of(done.run)) if one.started_at or one == done.run][-1]


def does_the_next(product: Product, done: Done) -> None:
    """See that the same worker does a replay at the real service."""
    product.reference.make_sure_it_runs()
    again, _ = replayed(product, newest(product, done))
    assert again.status == "completed"
    assert product.workers["replay"].poll() is None


def test_a_service_that_is_down_is_told_and_asked_again_once_it_is_up(
    product: Product, reference: Reference, done: Done
) -> None:
    run = newest(product, done)
    reference.kill()

    new, outcome = replayed(product, run)

    assert outcome == "The service could not be reached: the connection was refused."
    assert (new.status, product.job_of(new).status) == ("cancelled", "failed")
    assert f"Failed {outcome}" in product.page(run)
    does_the_next(product, done)


def test_a_service_that_drips_a_byte_every_ten_seconds_is_left_after_the_limit(
    product: Product, done: Done
) -> None:
    with Service() as server:
        server.turns = [Turn([b"d", lambda: server.over.wait(10), b"a", lambda: server.over.wait(10)])]
        run = run_at(product, done, server.url, limit_s=LIMIT_S)
        new = product.forced(run)
        eventually(lambda: product.job_of(new).accepted_at, "it answered")
        assert "The runtime took it; the new run goes on." in product.page(new)
        new = product.ended(new)
    sentence = f"The run took longer than {LIMIT_S} seconds, so it was left."
    assert new.status == "interrupted"
    assert product.job_of(new).outcome.startswith(sentence)
    assert sentence in product.page(new)
    assert (told(product, new)["status"], told(product, new)["record"]["code"]) == ("interrupted", "no_end")
    does_the_next(product, done)


@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        ("1.5.0", "google-adk 1.5.0 is too old; google-adk 1.39 to 2.13 are supported, so update the service."),
        ("3.0.0", "google-adk 3.0.0 is newer than what this was tried with; google-adk 1.39 to 2.13 are supported."),
    ],
    ids=["older", "newer"],
)  # fmt: skip
def test_another_version_is_told_on_the_page_of_the_runtimes(
    product: Product, admin: httpx.Client, done: Done, version: str, sentence: str
) -> None:
    with Service(version=version) as server:
        run = run_at(product, done, server.url)

        assert setup_says(product, admin, sentence)
        assert f"ADK version {version}" in product.page(run)

        new, outcome = replayed(product, run)
        if version == "1.5.0":
            assert (new.status, len(server.asked), sentence in outcome) == ("cancelled", 0, True)
        else:
            assert (new.status, len(server.asked)) == ("completed", 1)
    does_the_next(product, done)


def test_a_service_that_answers_with_pages_is_no_adk(
    product: Product, admin: httpx.Client, done: Done
) -> None:
    with Pages() as server:
        run = run_at(product, done, server.url)
        assert setup_says(product, admin, "The address answered with a page instead of ADK's API.")

        new, outcome = replayed(product, run)

    assert outcome.startswith("The address answered with a page instead of ADK's API.")
    assert (new.status, product.job_of(new).status) == ("cancelled", "failed")
    assert f"Failed {outcome}" in product.page(run)
    does_the_next(product, done)


def test_an_event_of_200_mb_is_not_read_to_its_end(product: Product, done: Done, mailbox: Mailbox) -> None:
    huge = [b'data: {"author": "', *[b"x" * MIB] * 200, b'"}\n\n']
    with Service(Turn([*sample("normal")[:1], *huge])) as server:
        run = run_at(product, done, server.url)
        new, outcome = replayed(product, run)
        assert server.left.wait(PATIENCE_S)
    assert "ADK sent an event of more than 8 MiB" in outcome
    assert new.status == "interrupted"
    assert outcome in product.page(new)
    assert [call["name"] for call in told(product, new)["calls"]] == ["lookup_customer"]
    assert mailbox.about(done.conversation.customer) == []
    does_the_next(product, done)
