"""The workspace is bound to a transaction, and to nothing longer than that."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import IntegrityError, InterfaceError, OperationalError, connection, transaction
from psycopg import sql

from approvals.db.binding import BindingError, NotBound, bind, current, current_workspace
from approvals.models import Beat, Member, QueueItem, Run, User, Workspace
from tests import house
from tests.house import House

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def alpha(transactional_db: None) -> House:
    del transactional_db
    return house.build("alpha")


@pytest.fixture
def beta(transactional_db: None) -> House:
    del transactional_db
    return house.build("beta")


def slugs() -> list[str]:
    return list(Workspace.objects.values_list("slug", flat=True))


def in_postgres() -> str | None:
    """What Postgres believes to be bound."""
    with connection.cursor() as cursor:
        cursor.execute("select current_setting('app.workspace_id', true)")
        return str(cursor.fetchone()[0] or "") or None


class TestWithoutAWorkspace:
    @pytest.mark.parametrize("model", [Workspace, Run, Member, QueueItem])
    def test_a_query_raises(self, model: type) -> None:
        with pytest.raises(NotBound), transaction.atomic():
            model.objects.count()  # type: ignore[attr-defined]

    def test_a_query_outside_of_a_transaction_raises_though_one_is_bound(self, alpha: House) -> None:
        with bind(alpha.workspace), pytest.raises(NotBound):
            Run.objects.count()

    def test_a_write_raises(self, alpha: House) -> None:
        with pytest.raises(NotBound), transaction.atomic():
            Run.objects.filter(id=alpha.run).update(status="completed")

    @pytest.mark.parametrize(
        "query",
        [
            "select * from approvals_run",
            "SELECT * FROM APPROVALS_RUN",
            'select * from "approvals_run"',
            "select * from public.approvals_toolcall",
            "delete from approvals_decision",
            sql.SQL("select * from {}").format(sql.Identifier("approvals_run")),
        ],
        ids=str,
    )
    def test_plain_sql_raises(self, query: object) -> None:
        with pytest.raises(NotBound), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(query)

    def test_many_statements_raise(self) -> None:
        with pytest.raises(NotBound), transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany("update approvals_run set status = %s", [["completed"]])

    def test_an_iterator_on_the_server_raises(self) -> None:
        with pytest.raises(NotBound), transaction.atomic():
            list(Run.objects.iterator(chunk_size=1))

    def test_people_and_signs_of_life_have_no_workspace(self) -> None:
        assert User.objects.count() == 0
        assert Beat.objects.count() == 0

    def test_nobody_is_told_a_workspace(self) -> None:
        assert current() is None
        with pytest.raises(NotBound):
            current_workspace()


class TestBound:
    def test_a_transaction_sees_the_rows_of_its_workspace_alone(self, alpha: House, beta: House) -> None:
        for home, slug in ((alpha, "alpha"), (beta, "beta")):
            with bind(home.workspace), transaction.atomic():
                assert slugs() == [slug]

    def test_a_subject_narrows_it(self, alpha: House) -> None:
        with bind(alpha.workspace, subject="customer-1"), transaction.atomic():
            assert list(Run.objects.values_list("id", flat=True)) == [alpha.run]

    def test_an_empty_subject_is_an_error_and_not_every_subject(self, alpha: House) -> None:
        with pytest.raises(BindingError), bind(alpha.workspace, subject=""):
            pass

    def test_a_savepoint_keeps_it(self, alpha: House) -> None:
        with bind(alpha.workspace), transaction.atomic():
            with transaction.atomic():
                assert slugs() == ["alpha"]
            assert slugs() == ["alpha"]

    def test_a_savepoint_that_is_rolled_back_keeps_it(self, alpha: House) -> None:
        with bind(alpha.workspace), transaction.atomic():
            with pytest.raises(IntegrityError), transaction.atomic():
                Workspace.objects.create(id=alpha.workspace, slug="again", name="Again")
            assert slugs() == ["alpha"]

    def test_binding_the_same_workspace_again_is_nothing_new(self, alpha: House) -> None:
        with bind(alpha.workspace), transaction.atomic(), bind(str(alpha.workspace)), transaction.atomic():
            assert slugs() == ["alpha"]

    def test_another_workspace_cannot_take_over_an_open_transaction(self, alpha: House, beta: House) -> None:
        with bind(alpha.workspace), transaction.atomic():
            with pytest.raises(BindingError), bind(beta.workspace):
                pass
            with pytest.raises(BindingError), bind(alpha.workspace, subject="customer-1"):
                pass
            assert slugs() == ["alpha"]


class TestASavepointOfAnUnboundTransaction:
    def test_is_bound_and_its_end_unbinds(self, alpha: House, beta: House) -> None:
        with transaction.atomic():
            for home, slug in ((alpha, "alpha"), (beta, "beta")):
                with bind(home.workspace), transaction.atomic():
                    assert slugs() == [slug]
                assert in_postgres() is None
                with pytest.raises(NotBound):
                    slugs()

    def test_is_unbound_by_an_exception_too(self, alpha: House) -> None:
        with transaction.atomic():
            with pytest.raises(ZeroDivisionError), bind(alpha.workspace), transaction.atomic():
                assert slugs() == ["alpha"]
                raise ZeroDivisionError
            assert in_postgres() is None
            with pytest.raises(NotBound):
                slugs()


class TestNothingLeaks:
    def test_to_the_next_transaction_of_a_connection_that_is_kept(self, alpha: House) -> None:
        with bind(alpha.workspace), transaction.atomic():
            slugs()
            before = connection.connection
        assert connection.connection is before
        assert in_postgres() is None
        with pytest.raises(NotBound), transaction.atomic():
            slugs()

    def test_after_an_exception(self, alpha: House) -> None:
        with pytest.raises(ZeroDivisionError), bind(alpha.workspace), transaction.atomic():
            raise ZeroDivisionError
        assert current() is None
        assert in_postgres() is None

    def test_to_another_thread(self, alpha: House) -> None:
        seen: list[object] = []

        def look() -> None:
            seen.append(current())
            try:
                with transaction.atomic():
                    slugs()
            except NotBound:
                seen.append("not bound")
            finally:
                connection.close()

        with bind(alpha.workspace), transaction.atomic():
            thread = threading.Thread(target=look)
            thread.start()
            thread.join()
        assert seen == [None, "not bound"]

    def test_between_threads_that_work_for_two_workspaces(self, alpha: House, beta: House) -> None:
        together = threading.Barrier(2)

        def look(home: House) -> set[str]:
            found: set[str] = set()
            for _ in range(20):
                with bind(home.workspace), transaction.atomic():
                    together.wait(timeout=10)
                    found |= set(slugs())
            connection.close()
            return found

        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(look, [alpha, beta])) == [{"alpha"}, {"beta"}]

    def test_when_the_server_is_lost_in_the_middle_and_comes_back(
        self,
        alpha: House,
        beta: House,
        connect_as: Callable[[str], psycopg.Connection],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def nobody_answers() -> None:
            raise OperationalError

        with (
            pytest.raises((OperationalError, InterfaceError)),
            bind(alpha.workspace),
            transaction.atomic(),
        ):
            slugs()
            monkeypatch.setattr(connection, "connect", nobody_answers)
            with connection.cursor() as cursor:
                cursor.execute("select pg_backend_pid()")
                (pid,) = cursor.fetchone()
            connect_as("superuser").execute("select pg_terminate_backend(%s)", [pid])
            slugs()
        monkeypatch.undo()
        with bind(beta.workspace), transaction.atomic():
            assert slugs() == ["beta"]


def test_the_workspace_has_to_be_an_id() -> None:
    with pytest.raises(ValueError, match="badly formed"), bind("alpha"):
        pass


def test_a_workspace_that_does_not_exist_has_no_rows() -> None:
    with bind(UUID(int=uuid4().int)), transaction.atomic():
        assert slugs() == []
