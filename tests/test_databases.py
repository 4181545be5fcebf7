"""How tests meet the database, which other tests rely on."""

from collections.abc import Callable
from threading import Thread

import psycopg
import pytest
from django.contrib.sessions.models import Session
from django.db import connections
from django.utils import timezone

from tests.cluster import ROLLBACK, TestServers


def whereabouts(alias: str) -> tuple[str, str]:
    """Role and database of an alias, as the server sees it."""
    with connections[alias].cursor() as cursor:
        cursor.execute("select current_user, current_database()")
        row: tuple[str, str] = cursor.fetchone()
    return row


def leave_a_session() -> None:
    Session.objects.create(session_key="left", session_data="", expire_date=timezone.now())


@pytest.mark.django_db
@pytest.mark.parametrize("turn", ["first", "second"])
def test_a_plain_test_is_app_and_leaves_nothing(turn: str) -> None:
    assert whereabouts("default") == ("secondlook_app", ROLLBACK)
    assert not Session.objects.exists(), turn
    leave_a_session()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("turn", ["first", "second"])
def test_a_transactional_test_has_a_database_of_its_own(turn: str) -> None:
    assert whereabouts("default")[1].startswith("test_")
    assert not Session.objects.exists(), turn
    leave_a_session()


@pytest.mark.django_db(databases=["default", "ingest"])
def test_two_aliases_are_two_roles_in_a_database_of_ones_own() -> None:
    app, ingest = whereabouts("default"), whereabouts("ingest")
    assert (app[0], ingest[0]) == ("secondlook_app", "secondlook_ingest")
    assert app[1] == ingest[1] != ROLLBACK


@pytest.mark.django_db(transaction=True)
def test_another_thread_meets_the_same_database() -> None:
    leave_a_session()
    seen: list[int] = []

    def look() -> None:
        seen.append(Session.objects.count())
        connections["default"].close()

    thread = Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [1]


def test_plain_sql_as_any_role_meets_the_same_database(
    connect_as: Callable[[str], psycopg.Connection], servers: TestServers
) -> None:
    leave_a_session()
    for role in ("app", "owner", "superuser"):
        found = connect_as(role).execute("select session_key from django_session").fetchall()
        assert found == [("left",)]
    assert connect_as("ingest").info.user == f"{servers.cluster.prefix}_ingest"


def test_a_real_process_is_told_of_it_but_never_of_the_owner(process_env: dict[str, str]) -> None:
    assert process_env["DATABASE_URL"].endswith(whereabouts("default")[1])
    assert process_env["OWNER_DATABASE_URL"] == ""
    assert process_env["DJANGO_SETTINGS_MODULE"] == "dashboard.settings"
