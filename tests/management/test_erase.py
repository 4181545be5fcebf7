"""`manage.py erase`: what it says, what it asks, and what the pages show afterwards."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from approvals.rules import verify_log
from approvals.services import attachments, datasets, suppressions
from approvals.services.datasets import Upload
from approvals.tasks import imports
from tests import cluster
from tests.cluster import TestServers
from tests.views.reading import Read
from tests.world import World, call, ended

pytestmark = pytest.mark.django_db(transaction=True)

Erase = Callable[..., str]


@pytest.fixture
def world() -> World:
    return World.create()


@pytest.fixture
def erase(world: World, servers: TestServers, settings: Settings) -> Iterator[Erase]:
    """Runs the command on this test's database; what it printed."""
    settings.OWNER_DATABASE_URL = servers.cluster.url("owner", cluster.database_in_use())

    def run(*words: str) -> str:
        printed = io.StringIO()
        call_command("erase", "--workspace", world.workspace.slug, *words, stdout=printed)
        return printed.getvalue()

    yield run


def answers(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setattr("builtins.input", lambda question: word)


def test_it_says_what_goes_asks_and_says_what_went(
    world: World, erase: Erase, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.run("refund-1", call("c1", "send_email", to="ann@example.com"), subject="ann")
    answers(monkeypatch, "no")
    with pytest.raises(CommandError, match=r"Nothing was erased\."):
        erase("--subject", "ann")
    answers(monkeypatch, "yes")
    said = erase("--subject", "ann")
    assert "this is erased for good" in said and "answered and said): 1" in said
    assert "Entry " in said and "of the decision log says so" in said
    assert "it was erased before" in erase("--subject", "ann", "--yes")


def test_who_cannot_be_asked_has_to_say_yes(
    world: World, erase: Erase, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.run("refund-1", call("c1", "send_email"), subject="ann")

    def nobody(question: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", nobody)
    with pytest.raises(CommandError, match="say --yes"):
        erase("--subject", "ann")


def test_what_is_wrong_is_one_sentence(erase: Erase, settings: Settings) -> None:
    with pytest.raises(CommandError, match="Nothing in this workspace is about nobody"):
        erase("--subject", "nobody")
    settings.OWNER_DATABASE_URL = ""
    with pytest.raises(CommandError, match="Set OWNER_DATABASE_URL"):
        erase("--subject", "nobody")


def test_the_uploaded_list_goes_what_is_kept_is_told_and_the_log_still_verifies(
    world: World, erase: Erase, settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.MEDIA_ROOT = tmp_path
    reviewer = world.actor("reviewer")
    with world.bound():
        upload = Upload(
            name="list.csv", pieces=[b"email,name\nann@example.com,Ann Secret\nbob@example.com,Bob\n"]
        )
        dataset, _ = datasets.receive(by=reviewer, upload=upload)
        imports.execute.run(str(dataset.id))
        suppressions.suppress(by=reviewer, address="ann@example.com", reason="Secret words")
        attachments.keep(by=reviewer, pieces=[b"Dear ann@example.com"], content_type="text/plain")
    file = tmp_path / "datasets" / str(world.workspace.id) / f"{dataset.sha256}.csv"
    assert file.exists()

    said = erase("--subject", "ann@example.com", "--yes")
    for line in (
        "so that the list adds up): 1",
        "recognised by its SHA-256): 1",
        "by which they are not to be written to, with the address: 1",
        "a file in the storage that spells ann@example.com: attachments/",
        "attached by no campaign",
        "were removed: 1",
    ):
        assert line in said
    assert not file.exists()
    page = Read(world.visit("support").get(world.at(f"datasets/{dataset.id}/")))
    assert page.status == 200 and "Secret" not in page.html and "ann@example.com" not in page.html
    assert "(erased)" in page and "The file was erased" in page
    assert "2 rows: 2 addressable" in page
    said = erase("--subject", "ann@example.com", "--yes")
    assert "it was erased before" in said and "with the address: 1" in said

    out = tmp_path / "log.jsonl"
    call_command(
        "log", "export", "--workspace", world.workspace.slug, "--out", str(out), stdout=io.StringIO()
    )
    assert "Secret" not in out.read_text() and "ann@example.com" not in out.read_text()
    assert verify_log.main([str(out)]) == 0
    assert verify_log.UNTOLD not in capsys.readouterr().out


def test_who_is_only_in_an_attached_file_is_nobody_here_and_the_file_is_named(
    world: World, erase: Erase, settings: Settings, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    with world.bound():
        attachments.keep(
            by=world.actor("reviewer"), pieces=[b"Dear zoe@example.com"], content_type="text/plain"
        )
    printed = io.StringIO()
    with pytest.raises(CommandError, match="Nothing in this workspace is about zoe"):
        call_command(
            "erase", "--workspace", world.workspace.slug, "--subject", "zoe@example.com", stdout=printed
        )
    assert "a file in the storage that spells zoe@example.com: attachments/" in printed.getvalue()


def test_every_page_reads_erased_and_none_breaks(world: World, erase: Erase) -> None:
    run = world.run(
        "refund-1",
        call("c1", "send_email", to="ann@example.com", text="Secret words"),
        ended("failed", "Secret words"),
        subject="ann@example.com",
        input="Secret words",
    )
    started = world.forced(run, reason="Secret words were not read.")
    campaign = world.campaign("Spring", ["ann@example.com", "bob@example.com"])
    erase("--subject", "ann@example.com", "--yes")

    def page(path: str, role: str = "support") -> Read:
        read = Read(world.visit(role).get(world.at(path)))
        assert read.status == 200 and "Secret" not in read.html, path
        return read

    assert "was erased" in page(f"runs/{run.id}/")
    delivery = world.read(lambda: campaign.deliveries.get(position=1))
    assert delivery.address == ""
    assert "What was known of this recipient was erased" in page(
        f"campaigns/{campaign.id}/?to={delivery.id}", "reviewer"
    )
    page(f"campaigns/{campaign.id}/recipients", "reviewer")
    assert "erased" in page("decisions/", "manager")
    assert "The texts of this entry were erased" in page(f"decisions/{started.decision.id}/", "manager")
    assert "erased" in page("subjects/?name=ann@example.com", "manager")
    for tab in ("decide", "progress", "history"):
        page(f"?tab={tab}")
    source = world.visit("reviewer").get(world.at(f"campaigns/{campaign.id}/message/{delivery.id}/source"))
    assert source.status_code == 422
