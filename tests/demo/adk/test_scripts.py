"""What the scripted model of the reference service does next, without google-adk."""

import pytest

from dashboard.demo.adk.served.reference.scripts import (
    PLANS,
    Call,
    Calls,
    Nothing,
    Say,
    TooMany,
    Turn,
    next_move,
)

BOTH = ("lookup_customer", "send_email")


def turn(script: str, *made: str, **more: object) -> Turn:
    return Turn(f"[script:{script}] Please refund customer C-9.", made, **more)  # type: ignore[arg-type]


def names(move: object) -> list[str]:
    assert isinstance(move, Calls)
    return [call.name for call in move.calls]


def test_a_normal_turn_looks_up_then_writes_then_says_so() -> None:
    assert names(next_move(turn("normal"))) == ["lookup_customer"]
    assert names(next_move(turn("normal", "lookup_customer"))) == ["send_email"]
    assert next_move(turn("normal", *BOTH)) == Say("Done: customer C-9 is taken care of.")


@pytest.mark.parametrize("text", ["Please refund customer C-9.", "[script:nobody_knows:1] for C-9", ""])
def test_a_message_without_a_known_script_is_a_normal_turn(text: str) -> None:
    assert names(next_move(Turn(text))) == ["lookup_customer"]
    assert isinstance(next_move(Turn(text, BOTH)), Say)


def test_a_message_without_a_customer_is_about_the_usual_one() -> None:
    assert next_move(Turn("hello")) == Calls([Call("lookup_customer", {"customer_id": "C-17"})])


def test_what_was_remembered_is_said_in_the_end() -> None:
    assert next_move(turn("normal", *BOTH, remembered="hello")) == Say(
        "Done: customer C-9 is taken care of. Earlier you asked: hello"
    )


@pytest.mark.parametrize("plan", PLANS)
def test_every_plan_comes_to_an_end(plan: str) -> None:
    made: list[str] = []
    while isinstance(move := next_move(turn("normal", *made, plan=plan)), Calls):
        made += names(move)

    assert tuple(made) == PLANS[plan]
    assert isinstance(move, Say)


def test_a_429_comes_as_often_as_the_script_says_and_asks_for_its_delay() -> None:
    script = "rate_before:2:0.5"

    assert next_move(turn(script)) == TooMany(0.5)
    assert next_move(turn(script, refused=1)) == TooMany(0.5)
    assert names(next_move(turn(script, refused=2))) == ["lookup_customer"]


def test_a_429_comes_once_and_asks_for_a_second_where_the_script_does_not_say() -> None:
    assert next_move(turn("rate_before")) == TooMany(1.0)
    assert isinstance(next_move(turn("rate_before", refused=1)), Calls)


def test_a_huge_delay_is_ten_minutes() -> None:
    assert next_move(turn("rate_before_huge", refused=5)) == TooMany(600.0)


def test_a_429_after_the_mail_comes_whenever_the_mail_was_called() -> None:
    assert names(next_move(turn("rate_after:3", "lookup_customer"))) == ["send_email"]
    assert next_move(turn("rate_after:3", *BOTH, refused=7)) == TooMany(3.0)


def test_a_call_comes_only_in_the_retry_and_then_a_429() -> None:
    script = "call_then_rate_in_retry"

    assert next_move(turn(script)) == TooMany(1.0)
    assert names(next_move(turn(script, refused=1))) == ["lookup_customer"]
    assert next_move(turn(script, *BOTH, refused=1)) == TooMany(1.0)


@pytest.mark.parametrize(("script", "nothing"), [("empty", Nothing()), ("empty_stop", Nothing(stop=True))])
def test_an_empty_turn_is_empty_for_ever_or_as_often_as_the_script_says(
    script: str, nothing: Nothing
) -> None:
    assert next_move(turn(script, asked=99)) == nothing
    assert next_move(turn(f"{script}:1")) == nothing
    assert isinstance(next_move(turn(f"{script}:1", asked=1)), Calls)


def test_a_thought_is_no_answer() -> None:
    move = next_move(turn("thought_only"))

    assert isinstance(move, Nothing) and move.thought
    assert isinstance(next_move(turn("thought_only:1", asked=1)), Calls)


def test_silence_after_the_mail() -> None:
    assert next_move(turn("empty_after_call", *BOTH)) == Nothing()


def test_two_mails_in_one_step_go_to_two_addresses() -> None:
    move = next_move(turn("parallel"))

    assert isinstance(move, Calls)
    assert [call.args["to"] for call in move.calls] == ["c-9@customers.example", "copy+c-9@customers.example"]
    assert isinstance(next_move(turn("parallel", "send_email", "send_email")), Say)


def test_the_second_of_two_mails_is_slow() -> None:
    move = next_move(turn("parallel_slow:4"))

    assert isinstance(move, Calls)
    assert [call.args.get("pause_s") for call in move.calls] == [None, 4.0]


def test_tools_that_raise_are_called_beside_a_mail_or_alone() -> None:
    assert names(next_move(turn("parallel_fail"))) == ["send_email", "charge_card"]
    assert names(next_move(turn("tool_error", "lookup_customer"))) == ["charge_card"]


@pytest.mark.parametrize(
    ("script", "asked", "pause_s"),
    [("slow", 0, 30.0), ("slow:4", 3, 4.0), ("slow:4:once", 0, 4.0), ("slow:4:once", 2, 0.0)],
)
def test_a_slow_mail_pauses(script: str, asked: int, pause_s: float) -> None:
    move = next_move(turn(script, asked=asked))

    assert isinstance(move, Calls)
    assert [call.args["pause_s"] for call in move.calls] == [pause_s]


def test_streamed_calls_come_in_parts() -> None:
    assert next_move(turn("stream_call")) == Calls(
        [Call("lookup_customer", {"customer_id": "C-9"})], in_parts=True
    )
    move = next_move(turn("stream_call_rate:2"))
    assert isinstance(move, TooMany) and move.begun is not None
    assert (move.delay_s, move.begun.name) == (2.0, "send_email")
