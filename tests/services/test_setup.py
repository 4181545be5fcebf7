"""Setting up by the operator: what is stored, what is shown once, and what the log keeps of it."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from allauth.account.models import EmailAddress
from django.db import transaction

from approvals.access.actors import Actor, bearer_of, memberships_of
from approvals.db.binding import bind
from approvals.exceptions import Conflict, Invalid, NotAllowed, NotFound
from approvals.models import Decision, Member, Payload, Runtime, Token, User, Workspace
from approvals.rules import webhooks
from approvals.selectors.workspaces import all_workspaces, workspace_by_slug
from approvals.services import decisions, secrets, setup
from tests.house import OPERATOR

pytestmark = pytest.mark.django_db

Words = dict[str, Any]


@pytest.fixture
def acme() -> Iterator[UUID]:
    """A workspace, bound for the whole test."""
    workspace = setup.create_workspace(by=OPERATOR, name="Acme Support")
    with bind(workspace.id), transaction.atomic():
        yield workspace.id


def logged() -> tuple[Decision, Words]:
    """The newest entry of the log and its evidence."""
    entry = Decision.objects.latest("seq")
    return entry, json.loads(Payload.objects.get(id=entry.payload_id).body)


def everything_stored() -> str:
    """All evidence in the log, to look for what must not be there."""
    return " ".join(Payload.objects.values_list("body", flat=True))


class TestAWorkspace:
    def test_has_a_slug_made_from_its_name(self, acme: UUID) -> None:
        workspace = Workspace.objects.get()
        assert (workspace.id, workspace.name, workspace.slug) == (acme, "Acme Support", "acme-support")

    def test_begins_its_log(self, acme: UUID) -> None:
        entry, evidence = logged()
        assert (entry.seq, entry.kind, entry.target_kind, entry.target_id) == (
            1,
            "workspace_created",
            "workspace",
            acme,
        )
        assert (entry.actor_kind, entry.actor_name) == ("operator", "a test")
        assert evidence == {"name": "Acme Support", "slug": "acme-support", "hold_s": 60}

    @pytest.mark.parametrize("seconds", [-1, setup.LONGEST_HOLD_S + 1])
    def test_holds_an_approval_for_a_day_at_most(self, seconds: int) -> None:
        with pytest.raises(Invalid, match="hold"):
            setup.create_workspace(by=OPERATOR, name="Beta", hold_s=seconds)

    def test_can_be_given_another_slug(self) -> None:
        assert setup.create_workspace(by=OPERATOR, name="日本", slug="nippon").slug == "nippon"

    def test_is_found_by_its_slug(self, acme: UUID) -> None:
        assert workspace_by_slug("acme-support").id == acme
        assert "acme-support" in [row.slug for row in all_workspaces()]
        with pytest.raises(NotFound, match='There is no workspace "acme"'):
            workspace_by_slug("acme")

    def test_cannot_take_a_slug_that_is_taken(self) -> None:
        setup.create_workspace(by=OPERATOR, name="Taken")
        with pytest.raises(Conflict, match='There is already a workspace "taken"'):
            setup.create_workspace(by=OPERATOR, name="Taken")

    @pytest.mark.parametrize(
        ("words", "field"),
        [
            ({"name": ""}, "name"),
            ({"name": "  "}, "name"),
            ({"name": "x" * 201}, "name"),
            ({"name": "two\nlines"}, "name"),
            ({"name": "nul\x00"}, "name"),
            ({"name": "half \ud800"}, "name"),
            ({"name": "日本"}, "slug"),
            ({"name": "x", "slug": "Not Small"}, "slug"),
            ({"name": "x", "slug": "x" * 61}, "slug"),
            ({"name": "x", "slug": "a/b"}, "slug"),
        ],
        ids=str,
    )
    def test_is_refused_with_the_field_at_fault(self, words: Words, field: str) -> None:
        with pytest.raises(Invalid) as refusal:
            setup.create_workspace(by=OPERATOR, **words)
        assert refusal.value.field == field
        assert refusal.value.text.endswith(".")


class TestAMember:
    def test_is_a_new_user_with_a_password_that_was_made_up(self, acme: UUID) -> None:
        added = setup.add_member(
            by=OPERATOR, email="Ann@Shop.example", roles=["reviewer", "support"], name="Ann"
        )
        assert added.password is not None and len(added.password) >= 20
        user = User.objects.get(email="ann@shop.example")
        assert user.check_password(added.password)
        assert [m.workspace_id for m in memberships_of(user.pk)] == [acme]

    def test_can_sign_in_at_once(self, acme: UUID) -> None:
        del acme
        setup.add_member(by=OPERATOR, email="ann@shop.example", roles=["support"])
        address = EmailAddress.objects.get(email="ann@shop.example")
        assert address.verified and address.primary

    def test_may_come_with_a_password(self, acme: UUID) -> None:
        del acme
        added = setup.add_member(
            by=OPERATOR, email="a@b.example", roles=["support"], password="correct horse battery"
        )
        assert added.password is None
        assert added.user.check_password("correct horse battery")

    def test_may_be_a_user_already(self, acme: UUID) -> None:
        del acme
        user = User.objects.create_user("ann@shop.example", "correct horse battery")
        added = setup.add_member(by=OPERATOR, email="ANN@shop.example", roles=["manager"])
        assert (added.user, added.password) == (user, None)
        user.refresh_from_db()
        assert user.check_password("correct horse battery")

    def test_is_in_the_log_without_the_password(self, acme: UUID) -> None:
        del acme
        added = setup.add_member(by=OPERATOR, email="ann@shop.example", roles=["support", "reviewer"])
        entry, evidence = logged()
        assert (entry.kind, entry.target_kind, entry.target_id) == ("member_added", "member", added.member.id)
        assert evidence == {"email": "ann@shop.example", "name": "", "roles": ["support", "reviewer"]}
        assert added.password not in everything_stored()

    def test_joins_once(self, acme: UUID) -> None:
        del acme
        setup.add_member(by=OPERATOR, email="ann@shop.example", roles=["support"])
        with pytest.raises(Conflict, match="already a member"):
            setup.add_member(by=OPERATOR, email="ann@shop.example", roles=["admin"])

    def test_keeps_the_password_that_somebody_chose(self, acme: UUID) -> None:
        del acme
        User.objects.create_user("ann@shop.example", "correct horse battery")
        with pytest.raises(Conflict, match="leave the password out"):
            setup.add_member(
                by=OPERATOR, email="ann@shop.example", roles=["support"], password="another long one"
            )

    @pytest.mark.parametrize(
        ("words", "field"),
        [
            ({"email": ""}, "email"),
            ({"email": "ann"}, "email"),
            ({"email": "ann@shop.example\nx"}, "email"),
            ({"email": f"{'a' * 250}@b.example"}, "email"),
            ({"roles": []}, "roles"),
            ({"roles": ["root"]}, "roles"),
            ({"roles": ["support", "owner"]}, "roles"),
            ({"password": "short"}, "password"),
            ({"password": "password123"}, "password"),
            ({"name": "two\nlines"}, "name"),
        ],
        ids=lambda value: str(value)[:40],
    )
    def test_is_refused_with_the_field_at_fault(self, acme: UUID, words: Words, field: str) -> None:
        del acme
        with pytest.raises(Invalid) as refusal:
            setup.add_member(by=OPERATOR, **{"email": "ann@shop.example", "roles": ["support"], **words})
        assert refusal.value.field == field
        assert not Member.objects.exists()
        assert not User.objects.filter(email="ann@shop.example").exists()

    def test_gets_a_new_password_that_works_at_once_and_is_logged_without_it(self, acme: UUID) -> None:
        email = "ada@example.com"
        first = setup.add_member(by=OPERATOR, email=email, roles=["support"])
        made_up = setup.set_password(by=OPERATOR, email=email)
        user = User.objects.get(email=email)
        assert made_up
        assert user.check_password(made_up)
        assert not user.check_password(first.password or "")
        entry, evidence = logged()
        assert (entry.kind, evidence) == ("password_set", {"email": email})

    def test_who_is_no_member_gets_no_password(self, acme: UUID) -> None:
        with pytest.raises(NotFound):
            setup.set_password(by=OPERATOR, email="bob@example.com")


class TestARuntime:
    def test_gets_a_secret_that_is_stored_encrypted(self, acme: UUID) -> None:
        del acme
        added = setup.add_runtime(by=OPERATOR, name="desk", base_url="https://agents.example/api/")
        stored = Runtime.objects.get(name="desk")
        assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", added.signing_secret)
        assert webhooks.sign(added.signing_secret, "id", 1, b"").startswith("v1,")
        assert added.signing_secret.encode() not in bytes(stored.signing_secret)
        assert secrets.unseal(bytes(stored.signing_secret)) == added.signing_secret
        assert (stored.base_url, stored.silence_s, stored.writes_ahead) == (
            "https://agents.example/api",
            300,
            False,
        )

    def test_is_in_the_log_without_the_secret(self, acme: UUID) -> None:
        del acme
        added = setup.add_runtime(
            by=OPERATOR, name="desk", base_url="http://10.0.0.1:8080", writes_ahead=True
        )
        entry, evidence = logged()
        assert (entry.kind, entry.target_kind, entry.target_id) == (
            "runtime_added",
            "runtime",
            added.runtime.id,
        )
        assert evidence == {
            "name": "desk", "kind": "http", "base_url": "http://10.0.0.1:8080", "silence_s": 300, "time_limit_s": 21600,
            "writes_ahead": True,
        }  # fmt: skip
        assert added.signing_secret not in everything_stored()

    def test_has_a_name_of_its_own(self, acme: UUID) -> None:
        del acme
        setup.add_runtime(by=OPERATOR, name="desk", base_url="http://a.example")
        with pytest.raises(Conflict, match='already a runtime "desk"'):
            setup.add_runtime(by=OPERATOR, name="desk", base_url="http://b.example")

    @pytest.mark.parametrize(
        ("words", "field"),
        [
            ({"name": ""}, "name"),
            ({"kind": "carrier pigeon"}, "kind"),
            ({"base_url": "ftp://x.example"}, "base_url"),
            ({"base_url": "http://user:pw@x.example"}, "base_url"),
            ({"silence_s": 0}, "silence_s"),
            ({"silence_s": -1}, "silence_s"),
            ({"silence_s": 10**9}, "silence_s"),
            ({"time_limit_s": 0}, "time_limit_s"),
        ],
        ids=lambda value: str(value)[:40],
    )
    def test_is_refused_with_the_field_at_fault(self, acme: UUID, words: Words, field: str) -> None:
        del acme
        with pytest.raises(Invalid) as refusal:
            setup.add_runtime(by=OPERATOR, **{"name": "desk", "base_url": "http://x.example", **words})
        assert refusal.value.field == field
        assert not Runtime.objects.exists()


class TestAToken:
    @pytest.fixture(autouse=True)
    def _runtime(self, acme: UUID) -> None:
        del acme
        setup.add_runtime(by=OPERATOR, name="desk", base_url="http://x.example")

    def test_is_known_by_its_digest_alone(self, acme: UUID) -> None:
        created = setup.create_token(by=OPERATOR, runtime="desk")
        stored = Token.objects.get()
        assert bytes(stored.digest) == hashlib.sha256(created.text.encode()).digest()
        assert created.text.startswith(stored.hint) and len(stored.hint) == 8
        bearer = bearer_of(secrets.token_digest(created.text))
        assert bearer is not None and (bearer.workspace_id, bearer.subject) == (acme, None)
        assert created.text not in everything_stored()

    def test_may_be_bound_to_one_customer(self) -> None:
        created = setup.create_token(by=OPERATOR, runtime="desk", subject="customer-1")
        _, evidence = logged()
        assert created.token.subject == "customer-1"
        assert evidence == {"runtime": "desk", "subject": "customer-1", "hint": created.token.hint}

    @pytest.mark.parametrize("subject", ["", "  ", "x" * 201, "a\nb", "a\x00b"])
    def test_is_never_bound_to_an_empty_or_strange_customer(self, subject: str) -> None:
        with pytest.raises(Invalid) as refusal:
            setup.create_token(by=OPERATOR, runtime="desk", subject=subject)
        assert refusal.value.field == "subject"

    def test_needs_its_runtime(self) -> None:
        with pytest.raises(NotFound, match='There is no runtime "nest"'):
            setup.create_token(by=OPERATOR, runtime="nest")

    @pytest.mark.parametrize("known_by", ["id", "hint", "text"])
    def test_is_revoked_for_good(self, known_by: str) -> None:
        created = setup.create_token(by=OPERATOR, runtime="desk")
        word = {"id": str(created.token.id), "hint": created.token.hint, "text": created.text}[known_by]
        revoked = setup.revoke_token(by=OPERATOR, token=word)
        entry, evidence = logged()
        assert revoked.revoked_at is not None
        assert bearer_of(secrets.token_digest(created.text)) is None
        assert (entry.kind, entry.target_kind, entry.target_id) == (
            "token_revoked",
            "token",
            created.token.id,
        )
        assert evidence == {"runtime": "desk", "subject": None, "hint": created.token.hint}
        with pytest.raises(Conflict, match="was revoked before"):
            setup.revoke_token(by=OPERATOR, token=word)

    def test_is_named_by_its_id_where_two_begin_alike(self) -> None:
        for digest in (b"1" * 32, b"2" * 32):
            runtime = Runtime.objects.get()
            Token.objects.create(
                workspace_id=runtime.workspace_id, runtime=runtime, digest=digest, hint="sl_alike"
            )
        with pytest.raises(Conflict, match="2 tokens begin with sl_alike"):
            setup.revoke_token(by=OPERATOR, token="sl_alike")

    @pytest.mark.parametrize("word", ["sl_nobody", "", str(uuid4()), "%", "x" * 9999])
    def test_that_does_not_exist_is_not_found(self, word: str) -> None:
        with pytest.raises(NotFound):
            setup.revoke_token(by=OPERATOR, token=word)


WRITES: dict[str, Callable[[Actor], object]] = {
    "create_workspace": lambda by: setup.create_workspace(by=by, name="Beta"),
    "add_member": lambda by: setup.add_member(by=by, email="bo@shop.example", roles=["support"]),
    "add_runtime": lambda by: setup.add_runtime(by=by, name="nest", base_url="http://x.example"),
    "create_token": lambda by: setup.create_token(by=by, runtime="desk"),
    "revoke_token": lambda by: setup.revoke_token(
        by=by, token=str(Token.objects.values_list("id", flat=True)[0])
    ),
}


@pytest.mark.parametrize("write", [name for name in WRITES if name != "create_workspace"])
def test_nothing_is_set_up_that_is_not_in_the_log(
    write: str, acme: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    del acme
    setup.add_runtime(by=OPERATOR, name="desk", base_url="http://x.example")
    setup.create_token(by=OPERATOR, runtime="desk")
    before = _counts()

    def broken(**_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(decisions, "record", broken)
    with pytest.raises(ZeroDivisionError):
        WRITES[write](OPERATOR)
    assert _counts() == before


@pytest.mark.parametrize("role", ["support", "reviewer", "manager"])
@pytest.mark.parametrize("write", [name for name in WRITES if name != "create_workspace"])
def test_a_member_sets_up_only_as_admin(write: str, role: str, acme: UUID) -> None:
    del acme
    setup.add_runtime(by=OPERATOR, name="desk", base_url="http://x.example")
    setup.create_token(by=OPERATOR, runtime="desk")
    with pytest.raises(NotAllowed, match="role admin"):
        WRITES[write](Actor("member", "1", "Ann", (role,)))
    WRITES[write](Actor("member", "1", "Ann", ("admin",)))


def _counts() -> list[object]:
    """Everything that setting up may touch."""
    counts: list[object] = [model.objects.count() for model in (User, Member, Runtime, Token, EmailAddress)]
    return [*counts, Token.objects.filter(revoked_at__isnull=True).count()]
