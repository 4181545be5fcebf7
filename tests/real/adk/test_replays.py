"""A replay of a real ADK run, start to end: when the model is asked once more, when a person is, and what is lost.

Every test has a run of its own that failed before. What is forced is its last message, in a fresh session; the scripts
count over all sessions of their user, so a replay goes on where the failed run ended.
"""

import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier

import httpx
import pytest

from approvals.models import Run
from tests.faults.crew import Person
from tests.faults.lab import eventually
from tests.real.adk.client import Conversation, Frame, calls
from tests.real.adk.mailbox import Mail, Mailbox
from tests.real.adk.product import SILENCE_S, Product, nothing_more, words_of
from tests.real.adk.running import Reference

pytestmark = pytest.mark.real

FAILING = (
    *(
        "call_then_rate_in_retry:0.3",
        "call_then_rate_in_retry:0.3:2",
        "rate_before:3:0.3",
        "rate_before:9:0.2",
    ),
    *("rate_before:1:0.1", "rate_before_huge", "says_429"),
    *("empty:2", "empty", "empty_after_call", "thought_only", "empty_stop"),
)
ROWS = 6  # of a normal turn
LOST_S = SILENCE_S + 10  # until it is known that a run was lost
SLOW = ("slow:4", "slow:5")  # whose client leaves after the mail
QUIET_S = 0.8  # longer than any pause that the scripts ask for and that is waited for
BOTH = {"lookup_customer": "answered", "send_email": "answered"}
# What nobody may read about a run that called something.
INVITATION = re.compile(r"\btry(ing)? (it )?again\b|\bretry\b|\banew\b|\bsafely\b", re.IGNORECASE)


@dataclass(frozen=True)
class Case:
    """A conversation whose only run failed, and that run."""

    product: Product
    mailbox: Mailbox
    conversation: Conversation
    run: Run

    def replayed(self) -> Run:
        """A person forces the replay; it is over."""
        return self.product.ended(self.product.forced(self.run))

    def sessions(self, new: Run) -> list[str]:
        """The sessions in which the model was asked for a replay, in order."""
        asked = (one.session for one in self.product.reference.asked(self.conversation))
        return list(dict.fromkeys(name for name in asked if name.startswith(f"secondlook-{new.id}")))

    def answers(self, new: Run) -> list[list[str]]:
        """What the model answered in each session of a replay."""
        asked = self.product.reference.asked(self.conversation)
        return [[one.answer for one in asked if one.session == name] for name in self.sessions(new)]

    def mails(self, new: Run) -> list[Mail]:
        """The mails of a replay: every other one is of a call of the failed run."""
        mails = self.mailbox.about(self.conversation.customer)
        earlier = self.product.call_ids(self.run)
        mine = [mail for mail in mails if mail.call_id not in earlier]
        assert {mail.call_id for mail in mine} <= set(self.product.call_ids(new))
        return mine

    def is_over(self) -> bool:
        """Whether the model is asked nothing more."""
        return nothing_more(lambda: len(self.product.reference.asked(self.conversation)), QUIET_S)


@pytest.fixture(scope="module")
def cases(shared_product: Product, mailbox: Mailbox) -> dict[str, Case]:
    """A case of each script. All of them go wrong at the same time, as some show it by their silence alone."""
    reference = shared_product.reference
    talks = {script: reference.new_session() for script in (*FAILING, *SLOW)}

    def mail_is_out(customer: str) -> Callable[[Frame], bool]:
        return lambda frame: calls("send_email")(frame) and bool(mailbox.wait_for(customer))

    for script in FAILING:
        talks[script].send(script)
    for script in SLOW:
        talks[script].leave_after(script, mail_is_out(talks[script].customer))
    return {
        script: Case(shared_product, mailbox, talk, shared_product.observed(talk))
        for script, talk in talks.items()
    }


def hands_on(case: Case, new: Run, code: str, *, completed: Mapping[str, str]) -> str:
    """The sentence with which a replay was handed on, once page and API agree on it."""
    product = case.product
    error = product.told(new)["error"]
    assert new.status == "failed"
    assert (error["code"], error["completed"], error["open"]) == (code, list(completed), [])
    assert product.calls(new) == completed
    assert product.journal(new)[-1] == "ended"
    assert error["text"] in product.page(new)
    return str(error["text"])


def invites_nobody(case: Case, new: Run, text: str) -> bool:
    """Whether neither the error nor the page around it suggests to try again."""
    return not INVITATION.search(text) and not INVITATION.search(case.product.page(new))


def test_a_429_after_the_mail_is_handed_on_at_once_and_names_the_mail(cases: Mapping[str, Case]) -> None:
    case = cases["call_then_rate_in_retry:0.3"]
    new = case.replayed()

    text = hands_on(case, new, "rate_limited", completed=BOTH)
    assert "send_email" in text
    assert invites_nobody(case, new, text)
    assert case.is_over()
    assert case.answers(new) == [["Calls", "Calls", "TooMany"]]
    assert len(case.mails(new)) == 1
    assert case.product.told(new)["record"]["kind"] == "called"


def test_a_429_before_any_call_is_asked_again_twice_at_most_in_sessions_of_their_own(
    cases: Mapping[str, Case],
) -> None:
    case = cases["rate_before:3:0.3"]
    new = case.replayed()

    assert new.status == "completed"
    assert case.answers(new) == [["TooMany"], ["TooMany"], ["Calls", "Calls", "Say"]]
    assert len(case.mails(new)) == 1
    assert case.product.calls(new) == BOTH
    assert case.product.told(new)["error"] is None
    assert case.product.page(new).count("it is asked once more in 0.3 seconds") == 2


def test_a_call_in_the_first_repetition_and_then_a_429_is_handed_on(cases: Mapping[str, Case]) -> None:
    case = cases["call_then_rate_in_retry:0.3:2"]
    new = case.replayed()

    text = hands_on(case, new, "rate_limited", completed=BOTH)
    assert "send_email" in text
    assert invites_nobody(case, new, text)
    assert case.is_over()
    assert case.answers(new) == [["TooMany"], ["Calls", "Calls", "TooMany"]]
    assert len(case.mails(new)) == 1


def test_a_429_that_asks_for_a_long_pause_is_handed_on_at_once(cases: Mapping[str, Case]) -> None:
    case = cases["rate_before_huge"]
    new = case.replayed()

    text = hands_on(case, new, "rate_limited", completed={})
    assert "a pause of 600 seconds, longer than the 60 seconds waited here" in text
    assert case.is_over()
    assert case.answers(new) == [["TooMany"]]
    assert case.mails(new) == []


def test_a_429_that_does_not_pass_is_handed_on_after_two_repetitions(cases: Mapping[str, Case]) -> None:
    case = cases["rate_before:9:0.2"]
    new = case.replayed()

    assert "It refused 2 repetitions too." in hands_on(case, new, "rate_limited", completed={})
    assert case.is_over()
    assert case.answers(new) == [["TooMany"]] * 3
    assert case.mails(new) == []


def test_a_model_that_writes_about_a_429_is_asked_nothing_more(cases: Mapping[str, Case]) -> None:
    case = cases["says_429"]
    new = case.replayed()

    assert (new.status, case.product.told(new)["error"]) == ("completed", None)
    assert "429 RESOURCE_EXHAUSTED" in case.product.page(new)
    assert case.is_over()
    assert case.answers(new) == [["Say"]]


def test_an_empty_turn_is_asked_for_once_more(cases: Mapping[str, Case]) -> None:
    case = cases["empty:2"]
    new = case.replayed()

    assert new.status == "completed"
    assert case.answers(new) == [["Nothing"], ["Calls", "Calls", "Say"]]
    assert len(case.mails(new)) == 1
    assert "The agent answered with nothing at all, so it is asked once more." in case.product.page(new)


def test_a_second_empty_turn_is_handed_on(cases: Mapping[str, Case]) -> None:
    case = cases["empty"]
    new = case.replayed()

    hands_on(case, new, "empty_turn", completed={})
    assert case.is_over()
    assert case.answers(new) == [["Nothing"]] * 2


def test_an_empty_turn_after_the_mail_is_handed_on_and_names_the_mail(cases: Mapping[str, Case]) -> None:
    case = cases["empty_after_call"]
    new = case.replayed()

    text = hands_on(case, new, "empty_turn", completed=BOTH)
    assert "send_email" in text
    assert invites_nobody(case, new, text)
    assert case.is_over()
    assert case.answers(new) == [["Calls", "Calls", "Nothing"]]
    assert len(case.mails(new)) == 1


@pytest.mark.parametrize("script", ["thought_only", "empty_stop"])
def test_a_thought_alone_or_an_answer_without_content_is_no_empty_turn(
    cases: Mapping[str, Case], script: str
) -> None:
    case = cases[script]
    new = case.replayed()

    hands_on(case, new, "no_content", completed={})
    assert case.is_over()
    assert case.answers(new) == [["Nothing"]]
    assert case.mails(new) == []


def test_of_two_people_at_the_same_moment_and_a_machine_one_starts_it(
    product: Product, cases: Mapping[str, Case]
) -> None:
    case = cases["slow:4"]
    ready = Barrier(2, timeout=20)

    def at_once(person: Person) -> httpx.Response:
        force = product.forcing(case.run, person)
        ready.wait()
        return force()

    names = ["anna", "otto"]
    people = [product.another(name) for name in names]
    with ThreadPoolExecutor(2) as threads:
        answers = dict(zip(names, threads.map(at_once, people), strict=True))
    [new] = product.replays_of(case.run)
    eventually(lambda: product.calls(new), "the replay goes on")
    refused = product.machine_asks(case.run)

    first, second = sorted(names, key=lambda name: answers[name].status_code)
    assert (answers[first].status_code, answers[second].status_code) == (303, 409)
    assert f"{first}@{people[0].slug}.example.com" in words_of(answers[second].text)  # who was first
    assert refused.status_code == 409
    assert "replay_in_flight" in [reason["code"] for reason in refused.json()["reasons"]]
    assert product.ended(new).status == "completed"
    assert case.answers(new) == [["Calls", "Say"]]
    assert len(case.mails(new)) == 1
    assert product.replays_of(case.run) == [new]


@dataclass(frozen=True)
class Lost:
    """The replays whose workers were killed: one while it streamed, one that had not listened at all."""

    streaming: Run
    deaf: Run


@pytest.fixture(scope="module")
def lost(shared_product: Product, cases: Mapping[str, Case]) -> Lost:
    """Both, once they are over. They are left alone at the same time, because that takes its time."""
    product, reference = shared_product, shared_product.reference
    streaming = product.forced(cases["slow:5"].run)
    cases["slow:5"].mailbox.wait_for(cases["slow:5"].conversation.customer, 2)
    eventually(lambda: product.calls(streaming), "the worker wrote the call down")
    product.crew.kill(product.workers["replay"])
    frozen = product.worker("replay", fault="stream.opened", how="stop")
    deaf = product.forced(cases["rate_before:1:0.1"].run)
    eventually(lambda: len(reference.rows_of(deaf.session_id)) == ROWS, "ADK is through", LOST_S)
    product.crew.kill(frozen)
    product.worker("replay")  # which is there to start them again
    return Lost(*(product.ended(run, LOST_S) for run in (streaming, deaf)))


def test_a_worker_killed_while_it_streams_leaves_an_interrupted_run(
    product: Product, reference: Reference, cases: Mapping[str, Case], lost: Lost
) -> None:
    new = lost.streaming

    assert (new.status, new.interrupted_why) == ("interrupted", "silent")
    # ADK 2 stops where nobody listens and says so in a row, which only the observer can have read.
    rows = reference.rows_of(new.session_id)
    aborted = [row for row in rows if row.get("error_code") == "INVOCATION_ABORTED"]
    assert len(aborted) == (1 if reference.version.startswith("2.") else 0)
    assert product.calls(new) == {"send_email": "aborted" if aborted else "open"}
    assert nothing_goes_on(cases["slow:5"], new)


def test_what_a_lost_worker_never_heard_is_read_from_the_rows(
    product: Product, reference: Reference, cases: Mapping[str, Case], lost: Lost
) -> None:
    new = lost.deaf

    assert (new.status, product.calls(new)) == ("interrupted", BOTH)
    assert product.call_ids(new) == [
        part["function_call"]["id"]
        for row in reference.rows_of(new.session_id)
        for part in row["content"]["parts"]
        if "function_call" in part
    ]
    assert "is taken care of." in product.page(new)  # the agent's last words
    assert nothing_goes_on(cases["rate_before:1:0.1"], new)


def nothing_goes_on(case: Case, new: Run) -> bool:
    """Whether a lost replay sent its one mail and is not begun again: by itself, or by a machine that asks."""
    product = case.product
    refused = product.machine_asks(new)
    assert refused.status_code == 409
    assert "send_email" in [call["name"] for call in refused.json()["calls"]]
    assert "send_email" in product.page(new)
    assert case.is_over()
    assert product.replays_of(case.run) == [new]
    assert product.job_of(new).status == "failed"
    return len(case.mails(new)) == len(case.sessions(new)) == 1
