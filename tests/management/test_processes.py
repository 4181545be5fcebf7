"""Commands, and the start of web, worker and dispatcher, as processes: one sentence and exit code 1, no traceback."""

import json
import subprocess
import sys
from collections.abc import Callable

import psycopg
import pytest
from django.conf import settings

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]

NOWHERE = dict.fromkeys(("DATABASE_URL", "INGEST_DATABASE_URL"), "postgres://nobody@127.0.0.1:1/nowhere")
Env = dict[str, str]


def python(env: Env, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        env={**env, "DJANGO_SETTINGS_MODULE": "dashboard.settings"},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def manage(env: Env, *words: str) -> subprocess.CompletedProcess[str]:
    return python(env, "manage.py", *words)


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """The one line of a failure."""
    assert done.returncode == 1, done
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    return line


def test_a_day_of_an_operator(process_env: Env) -> None:
    assert manage(process_env, "workspace", "create", "Acme").returncode == 0
    assert manage(process_env, "workspace", "list").stdout.split()[0] == "acme"
    member = ("member", "add", "--workspace", "acme", "--email", "a@b.example", "--roles", "support")
    assert manage(process_env, *member).stdout.splitlines()[-1].startswith("Password, shown only now: ")
    runtime = (
        "runtime",
        "add",
        "--workspace",
        "acme",
        "--name",
        "desk",
        "--kind",
        "http",
        "--base-url",
        "http://x:1",
    )
    assert manage(process_env, *runtime).stdout.split()[-1].startswith("whsec_")
    token = manage(process_env, "token", "create", "--workspace", "acme", "--runtime", "desk").stdout.split()[
        -1
    ]
    assert token.startswith("sl_")
    assert manage(process_env, "token", "revoke", "--workspace", "acme", "--token", token).returncode == 0
    doctor = manage(process_env, "doctor", "--json")
    assert doctor.returncode == 0
    assert all(guard["holds"] for guard in json.loads(doctor.stdout))


@pytest.mark.parametrize(
    "words",
    [
        ("workspace", "list"),
        ("workspace", "create", "Acme"),
        ("member", "add", "--workspace", "acme", "--email", "a@b.example", "--roles", "support"),
        ("token", "create", "--workspace", "acme", "--runtime", "desk"),
    ],
    ids=" ".join,
)
def test_without_a_database_a_command_says_so(process_env: Env, words: tuple[str, ...]) -> None:
    assert sentence(manage({**process_env, **NOWHERE}, *words)).startswith("The database cannot be reached.")


def test_without_a_database_nothing_is_migrated(process_env: Env) -> None:
    assert "The database cannot be reached." in sentence(manage({**process_env, **NOWHERE}, "migrate"))


def test_without_a_database_the_doctor_still_answers(process_env: Env) -> None:
    done = manage({**process_env, **NOWHERE}, "doctor", "--json")
    assert done.returncode == 1
    assert {guard["guard"] for guard in json.loads(done.stdout) if not guard["holds"]} == {
        "database (app)",
        "database (ingest)",
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("workspace", "create", ""), "The name is missing."),
        (("workspace", "forget"), "invalid choice"),
        (
            ("member", "add", "--workspace", "nowhere", "--email", "a@b.example", "--roles", "x"),
            "no workspace",
        ),
    ],
)
def test_bad_input_ends_a_command_with_one_sentence(
    process_env: Env, words: tuple[str, ...], said: str
) -> None:
    assert said in sentence(manage(process_env, *words))


def test_without_tables_a_command_says_so(
    process_env: Env, connect_as: Callable[[str], psycopg.Connection]
) -> None:
    connect_as("superuser").execute("drop function all_workspaces()")
    assert sentence(manage(process_env, "workspace", "list")).startswith("The tables are not up to date")


CANNOT_LOAD = 4  # as gunicorn says it
STARTS = {
    "web on its own": ("-m", "gunicorn", "dashboard.wsgi", "--bind", "127.0.0.1:0", "--no-control-socket"),
    "web": ("-m", "gunicorn", "dashboard.wsgi", "--preload", "--bind", "127.0.0.1:0", "--no-control-socket"),
    "dispatcher": ("manage.py", "dispatch"),
    "worker": ("-m", "celery", "--app", "dashboard", "worker", "--queues", "replay", "--concurrency", "1"),
}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"FIELD_KEY": ""}, 'the guard "keys" does not hold: FIELD_KEY is not set'),
        ({"SECRET_KEY": "unset-"}, 'the guard "keys" does not hold: SECRET_KEY is not set'),
        (NOWHERE, 'the guard "database (app)" does not hold'),
        ({"ROLE_PREFIX": "other"}, 'the guard "connections" does not hold'),
    ],
    ids=lambda value: "" if isinstance(value, str) else " ".join(value),
)
def test_nothing_starts_on_a_wrong_environment(start: str, wrong: Env, said: str, process_env: Env) -> None:
    done = python({**process_env, **wrong}, *STARTS[start])
    assert done.returncode == (CANNOT_LOAD if start.startswith("web") else 1), done
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("start", STARTS)
def test_nothing_starts_on_a_broken_guard(
    start: str, process_env: Env, connect_as: Callable[[str], psycopg.Connection]
) -> None:
    connect_as("superuser").execute("alter table approvals_decision no force row level security")
    done = python(process_env, *STARTS[start])
    assert done.returncode == (CANNOT_LOAD if start.startswith("web") else 1)
    assert 'Secondlook does not start, because the guard "tables" does not hold: ' in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("start", STARTS)
def test_nothing_starts_as_owner_or_superuser(
    start: str, process_env: Env, connect_as: Callable[[str], psycopg.Connection]
) -> None:
    for role in ("owner", "superuser"):
        info = connect_as(role).info
        url = f"postgres://{info.user}:{info.password}@127.0.0.1:{info.port}/{info.dbname}"
        done = python({**process_env, "DATABASE_URL": url}, *STARTS[start])
        assert done.returncode == (CANNOT_LOAD if start.startswith("web") else 1)
        assert f"app is connected as {info.user}" in done.stderr
        assert info.password not in done.stderr
