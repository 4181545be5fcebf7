"""Where a runtime listens for what became of its campaigns, and the secret that goes with it."""

import pytest
from django.db import DatabaseError, transaction

from approvals.exceptions import Invalid, NotAllowed, NotFound
from approvals.models import Decision, Runtime
from approvals.rules import webhooks
from approvals.selectors.payloads import contents_of
from approvals.services import listening, secrets, setup
from tests import factories as f
from tests.house import ADA, OPERATOR

pytestmark = pytest.mark.usefixtures("desk")

URL = "https://agents.example/told"
STORE = "postgresql://reader:s3cr3t@db.example/sessions"


def added(**words):
    return setup.add_runtime(by=OPERATOR, **{"name": "desk", "base_url": "http://x.example", **words})


def added_adk(**words):
    return added(kind="adk", database_url=STORE, **words)


def set_to(url, runtime="desk", by=OPERATOR):
    return listening.set_callback(by=by, runtime=runtime, callback_url=url)


def stored(name="desk"):
    [runtime] = f.rows(Runtime.objects.filter(name=name))
    return runtime


@transaction.atomic
def last_entry():
    entry = Decision.objects.latest("seq")
    return entry, contents_of([entry.payload_id])[entry.payload_id]


class TestOneThatReports:
    def test_keeps_the_secret_that_it_has(self):
        secret = added().signing_secret
        changed = set_to(URL)
        assert (changed.signing_secret, stored().callback_url) == ("", URL)
        assert secrets.unseal(stored().signing_secret) == secret

    def test_can_be_added_with_its_address(self):
        secret = added(callback_url=f" {URL} ").signing_secret
        assert stored().callback_url == URL
        assert secrets.unseal(stored().signing_secret) == secret
        assert last_entry()[1]["callback_url"] == URL


class TestOneThatIsRead:
    def test_has_no_secret_until_it_listens_and_then_gets_one_that_is_shown_once(self):
        assert added_adk().signing_secret == ""
        assert bytes(stored().signing_secret) == b""
        secret = set_to(URL).signing_secret
        assert webhooks.sign(secret, "id", 1, b"").startswith("v1,")
        assert secrets.unseal(stored().signing_secret) == secret
        assert set_to("https://other.example/told").signing_secret == ""
        assert set_to("").signing_secret == ""
        assert set_to(URL).signing_secret == ""
        assert secrets.unseal(stored().signing_secret) == secret

    def test_can_be_added_with_its_address_and_secret(self):
        secret = added_adk(callback_url=URL).signing_secret
        assert secrets.unseal(stored().signing_secret) == secret

    def test_which_is_in_no_log(self):
        added_adk()
        secret = set_to(URL).signing_secret
        entry, evidence = last_entry()
        assert (entry.kind, entry.target_kind, entry.target_id) == (
            "runtime_changed",
            "runtime",
            stored().id,
        )
        assert evidence == {"name": "desk", "callback_url": URL}
        assert secret not in str(evidence)


def test_whoever_is_not_told_any_more_is_in_the_log_too():
    added(callback_url=URL)
    set_to("")
    assert stored().callback_url == ""
    assert last_entry()[1] == {"name": "desk", "callback_url": ""}


@pytest.mark.parametrize(
    "url", ["agents.example", "https://a:b@agents.example", "https://agents.example/?t=1"]
)
def test_an_address_that_is_none_changes_nothing(url):
    added(callback_url=URL)
    with pytest.raises(Invalid) as refused:
        set_to(url)
    assert refused.value.field == "callback_url"
    assert stored().callback_url == URL
    with pytest.raises(Invalid):
        added(name="second", callback_url=url)


def test_a_runtime_that_is_not_there_and_a_person_who_may_not():
    added()
    with pytest.raises(NotFound, match='no runtime "nest"'):
        set_to(URL, runtime="nest")
    with pytest.raises(NotAllowed):
        set_to(URL, by=ADA)
    assert stored().callback_url == ""


def test_a_secret_is_set_once():
    added()
    with pytest.raises(DatabaseError, match="is set once"), transaction.atomic():
        Runtime.objects.filter(id=stored().id).update(signing_secret=secrets.seal(webhooks.new_secret()))
