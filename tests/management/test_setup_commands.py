"""The operator's commands: what they print, what stands in the log, and one sentence for whatever is wrong."""

import io
import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models.functions import Now

from approvals.access.actors import bearer_of
from approvals.db.binding import bind
from approvals.models import Decision, Member, Observation, Payload, Runtime, Token, User
from approvals.selectors.workspaces import workspace_by_slug
from approvals.services import secrets

pytestmark = pytest.mark.django_db

Run = Callable[..., str]


@pytest.fixture
def run() -> Run:
    """Runs a command; what it printed."""

    def run(*words: str) -> str:
        printed = io.StringIO()
        call_command(*words, stdout=printed)
        return printed.getvalue()

    return run


@pytest.fixture
def acme(run: Run) -> UUID:
    run("workspace", "create", "Acme Support")
    return workspace_by_slug("acme-support").id


@pytest.fixture
def desk(run: Run, acme: UUID) -> UUID:
    run("runtime", "add", "--workspace", "acme-support", "--name", "desk", "--base-url", "http://127.0.0.1:9")
    return acme


def within(workspace: UUID, read: Callable[[], Any]) -> Any:
    with bind(workspace), transaction.atomic():
        return read()


def log_of(workspace: UUID) -> list[tuple[str, str, dict[str, Any]]]:
    """(kind, actor kind, evidence) of each entry."""

    def read() -> list[tuple[str, str, dict[str, Any]]]:
        return [
            (entry.kind, entry.actor_kind, json.loads(Payload.objects.get(id=entry.payload_id).body))
            for entry in Decision.objects.order_by("seq")
        ]

    return within(workspace, read)  # type: ignore[no-any-return]


class TestWorkspace:
    def test_create_says_what_it_is_called(self, run: Run) -> None:
        printed = run("workspace", "create", "Acme Support")
        assert printed.split()[-1] == "acme-support"
        assert [kind for kind, *_ in log_of(workspace_by_slug("acme-support").id)] == ["workspace_created"]

    def test_list_shows_all(self, run: Run, acme: UUID) -> None:
        run("workspace", "create", "日本", "--slug", "nippon")
        lines = run("workspace", "list").splitlines()
        assert [line.split()[0] for line in lines] == ["acme-support", "nippon"]
        assert lines[1].endswith("日本")

    def test_set_pace_says_it_and_writes_it_down(self, run: Run, acme: UUID) -> None:
        printed = run("workspace", "set-pace", "--workspace", "acme-support", "--messages-per-minute", "600")
        assert printed.strip() == "acme-support sends 600 messages a minute from now on."
        told = {"name": "Acme Support", "messages_per_minute": 600}
        assert log_of(acme)[-1] == ("workspace_paced", "operator", told)
        printed = run("workspace", "set-pace", "--workspace", "acme-support", "--messages-per-minute", "0")
        assert printed.strip() == "acme-support sends as fast as it can from now on."

    def test_set_hold_says_it_and_writes_it_down(self, run: Run, acme: UUID) -> None:
        printed = run("workspace", "set-hold", "--workspace", "acme-support", "--hold-s", "300")
        assert printed.strip() == "acme-support holds an approval for 300 seconds from now on."
        told = {"name": "Acme Support", "hold_s": 300}
        assert log_of(acme)[-1] == ("workspace_held", "operator", told)
        printed = run("workspace", "set-hold", "--workspace", "acme-support", "--hold-s", "0")
        assert printed.strip() == "acme-support sends at once what was approved from now on."

    @pytest.mark.parametrize("seconds", ["-1", "86401"])
    def test_set_hold_refuses_what_is_none_in_a_sentence(self, run: Run, acme: UUID, seconds: str) -> None:
        with pytest.raises(CommandError, match="The hold is a number of seconds from 0"):
            run("workspace", "set-hold", "--workspace", "acme-support", "--hold-s", seconds)
        assert log_of(acme)[-1][0] == "workspace_created"

    def test_list_says_what_to_do_where_there_is_none(self, run: Run) -> None:
        assert "`workspace create NAME` makes one" in run("workspace", "list")


class TestMember:
    def test_add_prints_a_password_once(self, run: Run, acme: UUID) -> None:
        printed = run(
            "member",
            "add",
            "--workspace",
            "acme-support",
            "--email",
            "ann@x.example",
            "--roles",
            "reviewer, support",
        )
        password = printed.split()[-1]
        assert User.objects.get(email="ann@x.example").check_password(password)
        assert within(acme, lambda: Member.objects.get().roles) == ["support", "reviewer"]
        assert password not in json.dumps(log_of(acme))

    def test_add_takes_the_password_from_its_input(
        self, run: Run, acme: UUID, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        del acme
        monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
        words = (
            "--workspace",
            "acme-support",
            "--email",
            "ann@x.example",
            "--roles",
            "admin",
            "--password-stdin",
        )
        printed = run("member", "add", *words)
        assert User.objects.get(email="ann@x.example").check_password("correct horse battery")
        assert "correct horse" not in printed

    def test_add_of_a_user_prints_no_password(self, run: Run, acme: UUID) -> None:
        del acme
        run("workspace", "create", "Beta")
        run("member", "add", "--workspace", "beta", "--email", "ann@x.example", "--roles", "admin")
        printed = run(
            "member", "add", "--workspace", "acme-support", "--email", "ann@x.example", "--roles", "admin"
        )
        assert "assword" not in printed


class TestRuntime:
    def test_add_prints_the_signing_secret_once(self, run: Run, acme: UUID) -> None:
        printed = run(
            *("runtime", "add", "--workspace", "acme-support", "--name", "desk", "--kind", "http"),
            *("--base-url", "https://agents.example/hooks/", "--silence-s", "60", "--writes-ahead"),
        )
        secret = printed.split()[-1]
        runtime = within(acme, Runtime.objects.get)
        assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", secret)
        assert secrets.unseal(bytes(runtime.signing_secret)) == secret
        assert (runtime.base_url, runtime.silence_s, runtime.writes_ahead) == (
            "https://agents.example/hooks",
            60,
            True,
        )
        assert secret not in json.dumps(log_of(acme))

    def test_campaign_tool_declares_one_and_takes_it_away(self, run: Run, acme: UUID) -> None:
        run(
            *("runtime", "add", "--workspace", "acme-support", "--name", "desk", "--kind", "http"),
            *("--base-url", "https://agents.example/hooks/"),
        )
        asked = (
            "runtime",
            "campaign-tool",
            "--workspace",
            "acme-support",
            "--name",
            "desk",
            "--tool",
            "propose",
        )
        assert "from now on: propose." in run(*asked)
        assert within(acme, Runtime.objects.get).campaign_tools == ["propose"]
        told = {"name": "desk", "campaign_tools": "propose"}
        assert log_of(acme)[-1] == ("runtime_changed", "operator", told)
        assert "from now on: none." in run(*asked, "--remove")
        assert within(acme, Runtime.objects.get).campaign_tools == []


STORE = "postgresql://reader:s3cr3t@db.example/sessions"
ADK = ("--kind", "adk", "--base-url", "http://agents.example:8000", "--database-url", STORE)


class TestWhereARuntimeIsTold:
    SET = ("runtime", "set-callback", "--workspace", "acme-support", "--name")
    URL = "https://agents.example/told"

    def test_add_takes_the_address(self, run: Run, acme: UUID) -> None:
        printed = run(
            *RUNTIME, "--name", "nest", "--base-url", "http://x.example", "--callback-url", self.URL
        )
        assert f"It is told what became of its campaigns at {self.URL}." in printed
        assert printed.count("whsec_") == 1
        assert within(acme, lambda: Runtime.objects.get(name="nest").callback_url) == self.URL

    def test_set_callback_shows_a_secret_only_where_it_made_one(self, run: Run, acme: UUID) -> None:
        run(*RUNTIME, "--name", "desk", "--base-url", "http://x.example")
        run(*RUNTIME, "--name", "helper", *ADK)
        assert "whsec_" not in run(*self.SET, "desk", "--url", self.URL)
        printed = run(*self.SET, "helper", "--url", self.URL)
        secret = printed.split()[-1]
        stored = within(acme, lambda: Runtime.objects.get(name="helper"))
        assert secrets.unseal(bytes(stored.signing_secret)) == secret
        assert "whsec_" not in run(*self.SET, "helper", "--url", self.URL)

    def test_set_callback_with_an_empty_address_ends_it(self, run: Run, acme: UUID) -> None:
        run(*RUNTIME, "--name", "desk", "--base-url", "http://x.example", "--callback-url", self.URL)
        assert "desk is not told any more" in run(*self.SET, "desk", "--url", "")
        assert within(acme, lambda: Runtime.objects.get(name="desk").callback_url) == ""
        assert log_of(acme)[-1] == ("runtime_changed", "operator", {"name": "desk", "callback_url": ""})


class TestRuntimeThatIsRead:
    def add(self, run: Run, *more: str) -> str:
        return run("runtime", "add", "--workspace", "acme-support", "--name", "helper", *ADK, *more)

    def test_add_says_what_happens_next_and_prints_no_secret(self, run: Run, acme: UUID) -> None:
        printed = self.add(run, "--silence-s", "60", "--hides-calls")
        assert printed.splitlines() == [
            "Runtime helper of acme-support is asked at http://agents.example:8000.",
            "Its database is read within seconds; the Setup page and `runtime list` show how far that is.",
        ]
        runtime = within(acme, Runtime.objects.get)
        assert secrets.unseal(runtime.database_url) == STORE
        assert (runtime.kind, runtime.silence_s, runtime.hides_calls) == ("adk", 60, True)
        assert "s3cr3t" not in json.dumps(log_of(acme)) and "reader" not in json.dumps(log_of(acme))

    def test_set_database_takes_another_password(self, run: Run, acme: UUID) -> None:
        self.add(run)
        changed = STORE.replace("s3cr3t", "changed")
        printed = run(
            *("runtime", "set-database", "--workspace", "acme-support", "--name", "helper"),
            *("--database-url", changed),
        )
        assert "The database of helper of acme-support is read anew within seconds" in printed
        assert "sessions that are not found there count as deleted" in printed
        assert "changed" not in printed
        assert secrets.unseal(within(acme, Runtime.objects.get).database_url) == changed
        told = {"name": "helper", "store": "db.example/sessions"}
        assert log_of(acme)[-1] == ("runtime_changed", "operator", told)

    @pytest.mark.parametrize(
        ("read", "words"),
        [
            ({}, "waits for its first read"),
            (
                {"read_at": 0, "pass_began_at": 9, "pass_done": 12_400, "pass_total": 100_000},
                "first read: 12,400 of 100,000 sessions",
            ),
            ({"read_at": 0, "pass_ended_at": 9}, "up to date, looked at 20"),
            ({"read_at": 90, "pass_ended_at": 99}, "UTC; see that a worker of the queue observe runs"),
            ({"troubled_since": 9, "trouble": "It does not answer."}, "UTC: It does not answer."),
        ],
        ids=str,
    )
    def test_list_says_how_far_the_reading_is(
        self, run: Run, desk: UUID, read: dict[str, Any], words: str
    ) -> None:
        self.add(run)
        values = {
            name: Now() - timedelta(seconds=value) if name.endswith(("_at", "_since")) else value
            for name, value in read.items()
        }
        within(desk, lambda: values and Observation.objects.update(**values))
        http, adk = run("runtime", "list", "--workspace", "acme-support").splitlines()
        assert http.split() == ["desk", "http", "http://127.0.0.1:9", "reports", "by", "itself"]
        assert adk.split()[:3] == ["helper", "adk", "http://agents.example:8000"]
        assert words in adk

    def test_list_of_none_says_what_makes_one(self, run: Run, acme: UUID) -> None:
        del acme
        assert "`runtime add` makes one" in run("runtime", "list", "--workspace", "acme-support")


class TestToken:
    def test_create_prints_the_token_as_its_last_word(self, run: Run, desk: UUID) -> None:
        printed = run("token", "create", "--workspace", "acme-support", "--runtime", "desk")
        token = printed.splitlines()[-1].split()[-1]
        bearer = bearer_of(secrets.token_digest(token))
        assert bearer is not None and bearer.workspace_id == desk
        assert token not in json.dumps(log_of(desk))

    def test_create_binds_it_to_a_customer(self, run: Run, desk: UUID) -> None:
        run("token", "create", "--workspace", "acme-support", "--runtime", "desk", "--subject", "customer-1")
        assert within(desk, lambda: Token.objects.get().subject) == "customer-1"

    def test_revoke_ends_it(self, run: Run, desk: UUID) -> None:
        token = run("token", "create", "--workspace", "acme-support", "--runtime", "desk").split()[-1]
        run("token", "revoke", "--workspace", "acme-support", "--token", token[:8])
        assert bearer_of(secrets.token_digest(token)) is None
        kinds = [(kind, actor) for kind, actor, _ in log_of(desk)]
        assert kinds == [
            ("workspace_created", "operator"),
            ("runtime_added", "operator"),
            ("token_created", "operator"),
            ("token_revoked", "operator"),
        ]


MEMBER = ("member", "add", "--workspace", "acme-support")
RUNTIME = ("runtime", "add", "--workspace", "acme-support")
SET_DATABASE = ("runtime", "set-database", "--workspace", "acme-support")
TOKEN = ("token", "create", "--workspace", "acme-support")
WRONG = {
    ("workspace",): "the following arguments are required",
    ("workspace", "delete", "x"): "invalid choice: 'delete'",
    ("workspace", "create"): "the following arguments are required: NAME",
    ("workspace", "create", ""): "The name is missing.",
    ("workspace", "create", "日本"): "choose one with --slug",
    (
        "workspace",
        "create",
        "Acme support",
    ): 'There is already a workspace "acme-support"; choose another name.',
    ("member", "add"): "required: --workspace, --email, --roles",
    (
        "member",
        "add",
        "--workspace",
        "x",
        "--email",
        "a@b.example",
        "--roles",
        "admin",
    ): 'There is no workspace "x".',
    (*MEMBER, "--email", "nobody", "--roles", "admin"): '"nobody" is no e-mail address.',
    (*MEMBER, "--email", "a@b.example", "--roles", "root"): '"root" is no role; there are support, reviewer',
    (*MEMBER, "--email", "a@b.example", "--roles", ","): "A member needs a role; there are support, reviewer",
    (
        *MEMBER,
        "--email",
        "a@b.example",
        "--roles",
        "admin",
        "--password-stdin",
    ): "expects the password on standard",
    (*RUNTIME, "--name", "x", "--base-url", "ftp://x"): "The base URL begins with http:// or https://",
    (*RUNTIME, "--name", "x", "--base-url", "http://a:b@x"): "must not hold a user name or password",
    (*RUNTIME, "--name", "x", "--base-url", "http://x?y"): "no part after a ? or #",
    (
        *RUNTIME,
        "--name",
        "x",
        "--base-url",
        "http://x",
        "--kind",
        "fax",
    ): "The kind of a runtime is http or adk.",
    (*RUNTIME, "--name", "x", "--base-url", "http://x", "--silence-s", "0"): "number of seconds from 1 to",
    (*RUNTIME, "--name", "x", "--base-url", "http://x", "--silence-s", "soon"): "invalid int value: 'soon'",
    (
        *RUNTIME,
        "--name",
        "x",
        "--base-url",
        "http://x",
        "--kind",
        "adk",
    ): "An ADK runtime is read from its own",
    (
        *RUNTIME,
        "--name",
        "x",
        "--base-url",
        "http://x",
        "--database-url",
        "postgresql://h/x",
    ): "Only an ADK runtime",
    (
        *RUNTIME,
        "--name",
        "x",
        "--base-url",
        "http://x",
        "--kind",
        "adk",
        "--database-url",
        "x",
    ): "with postgresql://",
    (*RUNTIME, "--name", "x", "--base-url", "http://x", "--hides-calls"): "can be said to hide calls",
    (*SET_DATABASE, "--name", "nest", "--database-url", "postgresql://h/x"): 'There is no runtime "nest"',
    (*SET_DATABASE, "--name", "nest"): "required: --database-url",
    (*RUNTIME[:1], "set-callback", *RUNTIME[2:], "--name", "nest", "--url", "http://x"): 'no runtime "nest"',
    (*RUNTIME[:1], "set-callback", *RUNTIME[2:], "--name", "nest"): "required: --url",
    (*TOKEN, "--runtime", "nest"): 'There is no runtime "nest" in this workspace',
    ("token", "revoke", "--workspace", "acme-support", "--token", "sl_x"): 'There is no token "sl_x"',
    ("roles",): "Say --print-sql",
}


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_bad_input_is_one_clear_sentence(
    words: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(CommandError) as error:
        run(*words)
    assert WRONG[words] in str(error.value)
    assert "\n" not in str(error.value)


def test_roles_prints_what_an_administrator_runs(run: Run) -> None:
    printed = run("roles", "--print-sql")
    assert "create role secondlook_ingest login noinherit" in printed
    assert "revoke all on schema public from public" in printed
    assert "@prefix@" not in printed
