"""Setting up a runtime that is read from its own store: what is stored, what is said of it, and what never is."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from approvals.access.actors import Actor
from approvals.db.binding import bind
from approvals.exceptions import Conflict, Invalid, NotAllowed, NotFound
from approvals.models import Decision, Observation, Payload, Runtime
from approvals.services import decisions, secrets, setup
from tests.house import OPERATOR

pytestmark = pytest.mark.django_db

STORE = "postgresql://reader:s3cr3t%40word@db.example:5432/sessions"
ADDRESS = "http://agents.example:8000"


@pytest.fixture(autouse=True)
def acme() -> Iterator[UUID]:
    """A workspace, bound for the whole test."""
    workspace = setup.create_workspace(by=OPERATOR, name="Acme")
    with bind(workspace.id), transaction.atomic():
        yield workspace.id


def add(**words: Any) -> setup.AddedRuntime:
    given = {"name": "desk", "kind": "adk", "base_url": ADDRESS, "database_url": STORE}
    return setup.add_runtime(by=OPERATOR, **(given | words))


def logged() -> tuple[str, UUID, dict[str, Any]]:
    """(kind, target, evidence) of the newest entry."""
    entry = Decision.objects.latest("seq")
    return entry.kind, entry.target_id, json.loads(Payload.objects.get(id=entry.payload_id).body)


def everything_said() -> str:
    return " ".join(Payload.objects.values_list("body", flat=True))


class TestAdding:
    def test_keeps_the_database_address_encrypted(self) -> None:
        stored = Runtime.objects.get(id=add().runtime.id)
        assert secrets.unseal(stored.database_url) == STORE
        assert b"reader" not in bytes(stored.database_url)
        assert (stored.kind, stored.base_url, stored.hides_calls) == ("adk", ADDRESS, False)

    @pytest.mark.parametrize(
        ("changes", "refused"),
        [
            ({}, True),
            ({"database_url": STORE.replace("s3cr3t", "other")}, True),
            ({"base_url": "http://others.example:8000"}, False),
            ({"database_url": STORE.replace("/sessions", "/others")}, False),
        ],
    )
    def test_of_a_service_that_is_read_already_is_refused(
        self, changes: dict[str, str], refused: bool
    ) -> None:
        add()
        if not refused:
            add(name="again", **changes)
            return
        with pytest.raises(Conflict, match='"desk" is this service with this database already'):
            add(name="again", **changes)

    def test_needs_no_signing_secret(self) -> None:
        added = add()
        assert added.signing_secret == ""
        assert bytes(Runtime.objects.get().signing_secret) == b""

    def test_has_its_store_read_from_the_next_moment_on(self) -> None:
        added = add()
        observation = Observation.objects.get()
        assert observation.runtime_id == added.runtime.id
        assert observation.due_at is not None and observation.lease_until is None
        assert (observation.fence, observation.pass_total, observation.trouble) == (0, 0, "")

    def test_is_in_the_log_with_host_and_database_alone(self) -> None:
        added = add(silence_s=60, hides_calls=True)
        assert logged() == (
            "runtime_added",
            added.runtime.id,
            {
                "name": "desk", "kind": "adk", "base_url": ADDRESS, "silence_s": 60, "time_limit_s": 21600,
                "hides_calls": True, "store": "db.example:5432/sessions",
            },
        )  # fmt: skip
        assert "reader" not in everything_said() and "s3cr3t" not in everything_said()

    def test_observes_none_that_reports_by_itself(self) -> None:
        setup.add_runtime(by=OPERATOR, name="http", base_url=ADDRESS)
        assert not Observation.objects.exists()

    def test_is_all_or_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(**_: Any) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(decisions, "record", broken)
        with pytest.raises(ZeroDivisionError):
            add()
        assert not Runtime.objects.exists() and not Observation.objects.exists()

    @pytest.mark.parametrize(
        ("words", "field"),
        [
            ({"database_url": ""}, "database_url"),
            ({"database_url": "   "}, "database_url"),
            ({"database_url": "mysql://reader:s3cr3t@db.example/sessions"}, "database_url"),
            ({"database_url": "postgresql://reader:s3cr3t@db.example"}, "database_url"),
            ({"database_url": "reader:s3cr3t"}, "database_url"),
            ({"kind": "http"}, "database_url"),
            ({"kind": "http", "database_url": "", "hides_calls": True}, "hides_calls"),
            ({"writes_ahead": True}, "writes_ahead"),
            ({"base_url": "db.example"}, "base_url"),
            ({"silence_s": 0}, "silence_s"),
        ],
        ids=lambda value: str(value)[:40],
    )
    def test_is_refused_with_the_field_at_fault_and_no_secret_in_the_sentence(
        self, words: dict[str, Any], field: str
    ) -> None:
        with pytest.raises(Invalid) as refusal:
            add(**words)
        assert refusal.value.field == field
        assert refusal.value.text.endswith(".")
        assert "s3cr3t" not in refusal.value.text and "reader" not in refusal.value.text
        assert not Runtime.objects.exists()


class TestAnotherDatabaseAddress:
    NEW = "postgresql://reader:changed@db.example:5432/sessions?sslmode=require"

    def test_takes_the_place_of_the_old_one_and_is_read_at_once(self) -> None:
        runtime = add().runtime
        Observation.objects.update(due_at="2999-01-01T00:00:00Z")
        setup.set_runtime_database(by=OPERATOR, runtime="desk", database_url=self.NEW)
        runtime.refresh_from_db()
        assert secrets.unseal(runtime.database_url) == self.NEW
        assert Observation.objects.get().due_at.year < 2999

    def test_is_in_the_log_without_user_password_and_options(self) -> None:
        runtime = add().runtime
        setup.set_runtime_database(by=OPERATOR, runtime="desk", database_url=self.NEW)
        told = {"name": "desk", "store": "db.example:5432/sessions"}
        assert logged() == ("runtime_changed", runtime.id, told)
        assert "changed" not in everything_said().replace("runtime_changed", "")

    def test_is_for_a_runtime_that_is_there_and_is_read(self) -> None:
        with pytest.raises(NotFound, match='There is no runtime "nest"'):
            setup.set_runtime_database(by=OPERATOR, runtime="nest", database_url=self.NEW)
        setup.add_runtime(by=OPERATOR, name="http", base_url=ADDRESS)
        with pytest.raises(Conflict, match="reports by itself"):
            setup.set_runtime_database(by=OPERATOR, runtime="http", database_url=self.NEW)

    def test_is_kept_as_it_was_where_the_new_one_is_none(self) -> None:
        runtime = add().runtime
        with pytest.raises(Invalid) as refusal:
            setup.set_runtime_database(by=OPERATOR, runtime="desk", database_url="nonsense")
        assert refusal.value.field == "database_url"
        runtime.refresh_from_db()
        assert secrets.unseal(runtime.database_url) == STORE


WRITES: dict[str, Callable[[Actor], object]] = {
    "add": lambda by: setup.add_runtime(
        by=by, name="nest", kind="adk", base_url=f"{ADDRESS}/nest", database_url=STORE
    ),
    "change": lambda by: setup.set_runtime_database(by=by, runtime="desk", database_url=STORE),
}


@pytest.mark.parametrize("role", ["support", "reviewer", "manager"])
@pytest.mark.parametrize("write", WRITES)
def test_only_an_admin_does_it(write: str, role: str) -> None:
    add()
    with pytest.raises(NotAllowed, match="role admin"):
        WRITES[write](Actor("member", "1", "Ann", (role,)))
    WRITES[write](Actor("member", "1", "Ann", ("admin",)))
