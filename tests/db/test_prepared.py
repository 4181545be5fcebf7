"""A statement that is planned once, and the transaction that is said in one breath."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import IntegrityError, OperationalError, connection, transaction

from approvals.db import prepared
from approvals.db.binding import NotBound, bind
from approvals.models import Workspace
from tests import house
from tests.house import House

pytestmark = pytest.mark.django_db(transaction=True)

SLUGS = prepared.Statement("select slug from approvals_workspace")
PACED = prepared.Statement(
    "update approvals_workspace set messages_per_minute = %(pace)s::integer returning messages_per_minute"
)
BACK = prepared.Statement(
    "select word from unnest(%(words)s::text[]) with ordinality w (word, at) order by at"
)


@pytest.fixture
def alpha(transactional_db: None) -> House:
    del transactional_db
    return house.build("alpha")


@pytest.fixture
def beta(transactional_db: None) -> House:
    del transactional_db
    return house.build("beta")


def pace_of(one: House) -> int:
    with bind(one.workspace), transaction.atomic():
        return Workspace.objects.get().messages_per_minute


def backend() -> int:
    return int(connection.connection.info.backend_pid)


def test_each_transaction_sees_its_own_workspace_through_the_one_plan(alpha: House, beta: House) -> None:
    for home, slug in ((alpha, "alpha"), (beta, "beta")) * 8:
        with bind(home.workspace):
            assert prepared.rows(SLUGS, {}) == [(slug,)]
    with connection.cursor() as cursor:
        cursor.execute(
            "select generic_plans, custom_plans from pg_prepared_statements where statement = %s",
            [SLUGS.sql.decode()],
        )
        assert cursor.fetchall() == [(16, 0)]


def test_nothing_is_bound_afterwards(alpha: House) -> None:
    with bind(alpha.workspace):
        prepared.rows(SLUGS, {})
    with connection.cursor() as cursor:
        cursor.execute("select current_setting('app.workspace_id', true), current_setting('plan_cache_mode')")
        assert cursor.fetchone() == ("", "auto")
    with pytest.raises(NotBound):
        prepared.rows(SLUGS, {})


def test_it_is_committed_when_it_returns_and_not_before_what_is_done_meanwhile(alpha: House) -> None:
    done: list[str] = []
    with bind(alpha.workspace):
        assert prepared.rows(PACED, {"pace": 7}, meanwhile=lambda: done.append("it")) == [("7",)]
    connection.close()
    assert (pace_of(alpha), done) == (7, ["it"])


def test_within_a_transaction_it_is_rolled_back_with_it(alpha: House) -> None:
    with bind(alpha.workspace), transaction.atomic():
        prepared.rows(PACED, {"pace": 7})
        transaction.set_rollback(True)
    assert pace_of(alpha) == 0


def test_what_is_refused_is_raised_as_django_raises_it_and_the_next_goes_on(alpha: House) -> None:
    with bind(alpha.workspace):
        with pytest.raises(IntegrityError, match="messages_per_minute_check"):
            prepared.rows(PACED, {"pace": -1})
        assert prepared.rows(SLUGS, {}) == [("alpha",)]
        with pytest.raises(IntegrityError, match="messages_per_minute_check"), transaction.atomic():
            prepared.rows(PACED, {"pace": -1})
        assert prepared.rows(SLUGS, {}) == [("alpha",)]


def test_a_server_that_goes_away_meanwhile_is_an_operational_error(
    alpha: House, connect_as: Callable[[str], psycopg.Connection[Any]]
) -> None:
    with bind(alpha.workspace):
        prepared.rows(SLUGS, {})
        gone = prepared.Statement("select pg_sleep(5)::text")
        victim = backend()
        with pytest.raises(OperationalError):
            prepared.rows(
                gone,
                {},
                meanwhile=lambda: connect_as("superuser").execute(
                    "select pg_terminate_backend(%s)", [victim]
                ),
            )
        assert prepared.rows(SLUGS, {}) == [("alpha",)]
        assert backend() != victim


def test_whoever_fails_meanwhile_leaves_no_answer_behind_for_the_next(alpha: House) -> None:
    def fail() -> None:
        raise ValueError("on purpose")

    with bind(alpha.workspace):
        with pytest.raises(ValueError, match="on purpose"):
            prepared.rows(PACED, {"pace": 7}, meanwhile=fail)
        assert prepared.rows(SLUGS, {}) == [("alpha",)]


def test_words_come_back_as_they_were_sent(alpha: House) -> None:
    words = ['a "quoted" one', "back\\slash", "{comma, brace}", "", "null", "line\nbreak", "Zoë 🙂", uuid4()]
    with bind(alpha.workspace):
        assert prepared.rows(BACK, {"words": words}) == [(str(word),) for word in words]
