"""A callback that cannot be signed: it is not tried for ever, it says what to do, and is told once that was done."""

import pytest
from cryptography.fernet import Fernet
from django.db import DatabaseError, transaction

from approvals.exceptions import Conflict, NotAllowed, NotFound
from approvals.models import Callback, Decision, Runtime
from approvals.rules import webhooks
from approvals.selectors import callbacks as selectors
from approvals.selectors.payloads import contents_of
from approvals.services import callbacks, handover, jobs, listening, replays, secrets
from tests import factories as f
from tests.house import ADA, OPERATOR
from tests.services.sends import approve, reject, take_back

pytestmark = pytest.mark.usefixtures("desk")

URL = "https://agents.example/told"
SECRET = webhooks.new_secret()
UNREADABLE = {
    "sealed under another FIELD_KEY": Fernet(Fernet.generate_key()).encrypt(SECRET.encode()),
    "never set": b"",
    "no sealed secret": b"whsec_c2VjcmV0",
}


@pytest.fixture
def agents(desk):
    return f.runtime(name="agents", callback_url=URL, signing_secret=secrets.seal(SECRET))


@pytest.fixture
def campaign(agents):
    return f.campaign(runtime=agents)


@pytest.fixture
def stored_as(agents, as_superuser):
    return lambda sealed: as_superuser(
        "update approvals_runtime set signing_secret = %s where id = %s", sealed, agents.id
    )


def outbox():
    return f.rows(Callback.objects.order_by("number"))


def taken(row):
    return callbacks.claim(callback_id=row.id)


def states():
    return [row.status for row in outbox()]


@pytest.mark.parametrize("sealed", UNREADABLE.values(), ids=UNREADABLE)
def test_it_is_given_up_at_the_first_try_and_says_what_to_do(mia, campaign, stored_as, as_superuser, sealed):
    stored_as(sealed)
    reject(mia, campaign)
    [row] = outbox()
    assert taken(row) is None
    assert (f.fresh(row).status, f.fresh(row).attempts) == ("given_up", 1)
    with transaction.atomic():
        untold = selectors.untold_of(campaign.id)
    assert "runtime new-secret" in untold.why
    assert "have this told again" in untold.why
    as_superuser("update approvals_callback set due_at = now()")
    assert taken(row) is None
    assert f.fresh(row).attempts == 1


def test_a_secret_that_signs_nothing_is_none(mia, campaign, stored_as):
    stored_as(secrets.seal("no secret of ours"))
    reject(mia, campaign)
    assert taken(outbox()[0]) is None
    assert (states(), outbox()[0].answer) == (["given_up"], callbacks.UNSIGNED)


def test_so_it_is_while_this_process_has_no_key_at_all(mia, campaign, settings):
    reject(mia, campaign)
    settings.FIELD_KEY = "no key"
    assert taken(outbox()[0]) is None
    assert outbox()[0].answer == callbacks.UNSIGNED


def test_it_keeps_no_later_news_waiting_which_end_alike(mia, campaign, stored_as):
    stored_as(b"")
    approve(mia, campaign)
    take_back(mia, campaign)
    for row in outbox():
        assert taken(row) is None
    assert states() == ["given_up", "given_up"]


def test_whoever_stopped_listening_is_not_asked_for_a_secret(mia, campaign, stored_as):
    stored_as(b"")
    reject(mia, campaign)
    listening.set_callback(by=OPERATOR, runtime="agents", callback_url="")
    assert taken(outbox()[0]) is None
    assert outbox()[0].answer == callbacks.NO_ADDRESS


def test_with_the_right_key_again_a_reviewer_has_it_told(mia, campaign, stored_as):
    stored_as(b"")
    reject(mia, campaign)
    [row] = outbox()
    taken(row)
    stored_as(secrets.seal(SECRET))
    callbacks.tell_again(by=mia, campaign_id=campaign.id, shown=f.shown_campaign(campaign))
    assert taken(row).secret == SECRET


class TestASecretThatIsMadeAnew:
    def test_signs_what_could_not_be_signed_and_that_at_once(self, mia, campaign, stored_as, as_owner):
        stored_as(UNREADABLE["sealed under another FIELD_KEY"])
        reject(mia, campaign)
        [row] = outbox()
        taken(row)
        with as_owner():
            made = listening.new_secret(by=OPERATOR, runtime="agents").signing_secret
        held = taken(row)
        assert (held.secret, held.attempts) == (made, 1)
        assert made != SECRET

    def test_is_an_entry_of_the_log_that_does_not_hold_it(self, agents, as_owner):
        with as_owner():
            made = listening.new_secret(by=OPERATOR, runtime="agents").signing_secret
        with transaction.atomic():
            entry = Decision.objects.latest("seq")
            told = contents_of([entry.payload_id])[entry.payload_id]
        assert (entry.kind, told) == ("runtime_changed", {"name": "agents", "signing_secret": "made anew"})
        assert made not in str(told)

    def test_is_the_owners_to_make_and_nobody_elses(self, agents):
        before = bytes(f.fresh(agents).signing_secret)
        with pytest.raises(DatabaseError, match="is set once"):
            listening.new_secret(by=OPERATOR, runtime="agents")
        with pytest.raises(NotAllowed):
            listening.new_secret(by=ADA, runtime="agents")
        assert bytes(f.fresh(agents).signing_secret) == before

    def test_takes_the_place_of_one(self, desk, as_owner):
        f.runtime(name="read", signing_secret=b"")
        with as_owner():
            with pytest.raises(Conflict, match="set-callback"):
                listening.new_secret(by=OPERATOR, runtime="read")
            with pytest.raises(NotFound):
                listening.new_secret(by=OPERATOR, runtime="nest")
        [runtime] = f.rows(Runtime.objects.filter(name="read"))
        assert bytes(runtime.signing_secret) == b""


@pytest.mark.parametrize("sealed", UNREADABLE.values(), ids=UNREADABLE)
def test_a_replay_that_cannot_be_signed_starts_nothing_and_is_decided_again(ada, as_superuser, sealed):
    run = f.clean_run()
    job = replays.replay(by=ada, run_id=run.id, shown=f.shown_run(run)).job
    as_superuser("update approvals_runtime set signing_secret = %s", sealed)
    assert handover.prepare(held=jobs.claim(job_id=job.id, task_id="t")) is None
    assert f.fresh(job).status == "failed"
    assert f.fresh(job).outcome == f"{secrets.UNREADABLE} Nothing was started; then decide again."
