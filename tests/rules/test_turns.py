"""When a turn is asked for once more, and when a person has to know."""

import re
from collections.abc import Callable, Sequence

import pytest

from approvals.rules.turns import (
    DEFAULT_WAIT_S,
    Again,
    Attempt,
    Call,
    Done,
    Error,
    HandedOn,
    classify_error,
    next_step,
)

LOOKUP, SEND = Call("c1", "lookup_customer"), Call("c2", "send_email")
INVITING = re.compile(r"again|retr(y|ies)|repeat|resend|once more|start|another|later", re.IGNORECASE)

Step = Callable[[Attempt], None]


def attempt(*steps: Step, broken: bool = False) -> Attempt:
    made = Attempt()
    for step in steps:
        step(made)
    if not broken:
        made.end()
    return made


def limited(text: str = "429 RESOURCE_EXHAUSTED. {'error': {}}", code: str = "RESOURCE_EXHAUSTED") -> Step:
    return lambda made: made.fail(code, text)


def asked_to_wait(seconds: str) -> Step:
    return limited(f"429 RESOURCE_EXHAUSTED. {{'details': [{{'retryDelay': '{seconds}'}}]}}")


def failed(made: Attempt) -> None:
    made.fail("RuntimeError", "payment gateway timed out")


def thinks(made: Attempt) -> None:
    made.say(words=False)


def says(made: Attempt) -> None:
    made.say(words=True)


def calls(*made_calls: Call, partial_of: str | None = None) -> Step:
    def step(made: Attempt) -> None:
        for call in made_calls:
            made.call(call, partial_of=partial_of)

    return step


def answers(*answered: Call, last: bool = False) -> Step:
    def step(made: Attempt) -> None:
        for call in answered:
            made.answer(call, last=last)

    return step


EMPTY = attempt()
LIMITED = attempt(limited())


@pytest.mark.parametrize(
    ("code", "text", "details", "meant"),
    [
        ("RESOURCE_EXHAUSTED", "", "", Error("rate_limited")),
        ("_ResourceExhaustedError", "", "", Error("rate_limited")),
        ("", "\n\n429 RESOURCE_EXHAUSTED. {'error': {'code': 429}}", "", Error("rate_limited")),
        ("", "_ResourceExhaustedError: \nOn how to mitigate", "", Error("rate_limited")),
        ("", "Something failed.", "429 RESOURCE_EXHAUSTED.", Error("rate_limited")),
        ("RESOURCE_EXHAUSTED", "'retryDelay': '37s'", "", Error("rate_limited", 37)),
        ("RESOURCE_EXHAUSTED", '"retryDelay": "0.5s"', "", Error("rate_limited", 0.5)),
        ("RESOURCE_EXHAUSTED", r"\"retryDelay\": \"7s\"", "", Error("rate_limited", 7)),
        ("RESOURCE_EXHAUSTED", "", "retryDelay='7s' retryDelay='9s'", Error("rate_limited", 9)),
        ("RESOURCE_EXHAUSTED", "'retryDelay': 'soon'", "", Error("rate_limited")),
        ("MODEL_RETURNED_NO_CONTENT", "", "", Error("no_content")),
        ("RuntimeError", "payment gateway timed out", "", Error("failed")),
        ("RuntimeError", "'retryDelay': '7s'", "", Error("failed")),
        ("ValueError", "1429 RESOURCE_EXHAUSTEDLY", "", Error("failed")),
        ("", "", "", Error("failed")),
    ],
)
def test_an_error_is_known_by_its_code_and_its_own_text(
    code: str, text: str, details: str, meant: Error
) -> None:
    assert classify_error(code, text, details) == meant


@pytest.mark.parametrize(
    "attempts",
    [
        [attempt(says)],
        [attempt(thinks, says)],
        [attempt(says, thinks)],
        [attempt(calls(LOOKUP), answers(LOOKUP), says)],
        [attempt(calls(SEND), answers(SEND, last=True))],
        [attempt(calls(SEND), Attempt.hold)],
        [attempt(Attempt.come)],
        [attempt(limited(), says)],
        [LIMITED, attempt(says)],
        [EMPTY, attempt(calls(SEND), answers(SEND), says)],
    ],
)
def test_a_turn_that_came_to_its_end_is_done(attempts: list[Attempt]) -> None:
    assert next_step(attempts) == Done()


@pytest.mark.parametrize(
    ("first", "wait_s"),
    [
        (LIMITED, DEFAULT_WAIT_S),
        (attempt(thinks, limited()), DEFAULT_WAIT_S),
        (attempt(says, limited()), DEFAULT_WAIT_S),
        (attempt(asked_to_wait("7s")), 7),
        (attempt(asked_to_wait("0.5s")), 0.5),
        (attempt(asked_to_wait("0s")), 0),
        (attempt(asked_to_wait("60s")), 60),
        (attempt(asked_to_wait("7s"), limited()), 7),
    ],
)
def test_a_429_before_any_call_is_tried_again_after_the_pause_that_was_asked_for(
    first: Attempt, wait_s: float
) -> None:
    step = next_step([first])
    assert isinstance(step, Again)
    assert step.wait_s == wait_s
    assert f"{wait_s:g} second" in step.why


@pytest.mark.parametrize(("asked", "said"), [("60.1s", "60.1 seconds"), ("9" * 400 + "s", "more than a day")])
def test_a_pause_that_is_too_long_is_handed_on(asked: str, said: str) -> None:
    step = next_step([attempt(asked_to_wait(asked))])
    assert isinstance(step, HandedOn)
    assert step.code == "rate_limited"
    assert said in step.text
    assert "No tool call was seen" in step.text


def test_a_429_is_tried_again_twice_at_most() -> None:
    assert isinstance(next_step([LIMITED, LIMITED]), Again)
    step = next_step([LIMITED, LIMITED, LIMITED])
    assert isinstance(step, HandedOn)
    assert (step.code, step.completed, step.open) == ("rate_limited", (), ())


def test_an_empty_turn_is_tried_again_once() -> None:
    assert next_step([EMPTY]) == Again(0, "The agent answered with nothing at all, so it is asked once more.")
    step = next_step([EMPTY, EMPTY])
    assert isinstance(step, HandedOn)
    assert step.code == "empty_turn"


@pytest.mark.parametrize(
    ("attempts", "goes_on"),
    [
        ([EMPTY, LIMITED], True),
        ([LIMITED, EMPTY], True),
        ([EMPTY, LIMITED, LIMITED], False),
        ([LIMITED, EMPTY, LIMITED], False),
        ([LIMITED, LIMITED, EMPTY], False),
        ([EMPTY, LIMITED, EMPTY], False),
        ([LIMITED, EMPTY, EMPTY], False),
    ],
)
def test_both_rules_together_make_no_more_than_two_repetitions(
    attempts: list[Attempt], goes_on: bool
) -> None:
    assert isinstance(next_step(attempts), Again if goes_on else HandedOn)


@pytest.mark.parametrize(
    "last", [attempt(thinks), attempt(lambda made: made.fail("MODEL_RETURNED_NO_CONTENT", ""))]
)
def test_thoughts_alone_are_no_empty_turn_and_are_not_tried_again(last: Attempt) -> None:
    step = next_step([last])
    assert isinstance(step, HandedOn)
    assert step.code == "no_content"


@pytest.mark.parametrize(
    ("attempts", "code", "completed", "unanswered"),
    [
        ([attempt(calls(SEND), answers(SEND), limited())], "rate_limited", [SEND], []),
        ([attempt(calls(LOOKUP, SEND), answers(LOOKUP), limited())], "rate_limited", [LOOKUP], [SEND]),
        ([attempt(calls(SEND, partial_of="a"), limited())], "rate_limited", [], [SEND]),
        ([attempt(calls(SEND, partial_of="a"))], "empty_turn", [], [SEND]),
        ([attempt(calls(SEND), answers(SEND), asked_to_wait("90s"))], "rate_limited", [SEND], []),
        ([attempt(calls(SEND), answers(SEND))], "empty_turn", [SEND], []),
        ([attempt(calls(SEND), answers(SEND), thinks)], "no_content", [SEND], []),
        ([attempt(says, calls(SEND), answers(SEND), thinks)], "no_content", [SEND], []),
        ([attempt(calls(SEND), failed)], "failed", [], [SEND]),
        ([attempt(calls(SEND), broken=True)], "failed", [], [SEND]),
        # An answer to a call that was not shown, as after a confirmation.
        ([attempt(answers(SEND), limited())], "rate_limited", [SEND], []),
        # The calls of all attempts count, whichever showed them.
        ([LIMITED, attempt(calls(SEND), answers(SEND), limited())], "rate_limited", [SEND], []),
        ([attempt(calls(SEND), answers(SEND), limited()), LIMITED], "rate_limited", [SEND], []),
        ([attempt(calls(SEND), answers(SEND), limited()), EMPTY], "empty_turn", [SEND], []),
    ],
)
def test_after_a_call_nothing_is_tried_again_and_nobody_is_led_to(
    attempts: list[Attempt], code: str, completed: Sequence[Call], unanswered: Sequence[Call]
) -> None:
    step = next_step(attempts)
    assert isinstance(step, HandedOn)
    assert (step.code, list(step.completed), list(step.open)) == (code, completed, unanswered)
    assert not INVITING.search(step.text)
    for call in (*completed, *unanswered):
        assert call.name in step.text


def test_whatever_breaks_off_is_handed_on_though_no_call_was_seen() -> None:
    for last in (attempt(broken=True), attempt(says, broken=True), attempt(limited(), broken=True)):
        step = next_step([last])
        assert isinstance(step, HandedOn)
        assert not INVITING.search(step.text)


def test_an_ordinary_failure_before_any_call_is_handed_on() -> None:
    step = next_step([attempt(failed)])
    assert isinstance(step, HandedOn)
    assert step.code == "failed"


@pytest.mark.parametrize("last", [EMPTY, LIMITED])
def test_a_turn_that_cannot_be_repeated_is_handed_on_and_nobody_is_led_to(last: Attempt) -> None:
    step = next_step([last], repeatable=False)
    assert isinstance(step, HandedOn)
    assert not INVITING.search(step.text)


def test_the_text_says_what_was_done_and_what_to_do_next() -> None:
    twice = attempt(
        calls(LOOKUP, Call("c3", "lookup_customer"), SEND), answers(LOOKUP, Call("c3", "")), limited()
    )
    step = next_step([twice])
    assert isinstance(step, HandedOn)
    assert step.text == (
        "The model's provider refused a request because of its rate limit. "
        "Completed: lookup_customer (2 times). Left open: send_email. "
        "Check what these calls have done, then decide how it goes on."
    )


def test_a_call_that_was_shown_in_parts_and_then_whole_is_one_call() -> None:
    made = Attempt()
    made.call(Call("p1", "send_email"), partial_of="a")
    made.call(Call("p2", "send_email"), partial_of="a")
    assert made.open == (Call("p2", "send_email"),)
    made.finish("b")
    assert made.open == (Call("p2", "send_email"),)
    made.finish("a")
    made.call(SEND)
    assert (made.open, made.completed) == ((SEND,), ())
    made.answer(SEND)
    assert (made.open, made.completed) == ((), (SEND,))


def test_names_that_a_model_made_up_cannot_fill_the_page() -> None:
    many = [Call(str(number), f"tool_{number}\nplease " + "x" * 500) for number in range(30)]
    step = next_step([attempt(calls(*many, Call("n", "")), limited())])
    assert isinstance(step, HandedOn)
    assert "\n" not in step.text
    assert len(step.text) < 1500
    assert "21 more" in step.text
