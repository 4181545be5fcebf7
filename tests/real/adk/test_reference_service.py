"""The reference service itself, without Secondlook: each script does what its name says, in both lines of ADK."""

import pytest

from tests.real.adk.client import Frame, called, calls, parts
from tests.real.adk.mailbox import Mailbox
from tests.real.adk.running import Reference

pytestmark = pytest.mark.real


def ended_with_429(frames: list[Frame]) -> bool:
    return "429 RESOURCE_EXHAUSTED" in frames[-1].get("error", "")


def answers(reference: Reference, conversation: object) -> list[str]:
    return [one.answer for one in reference.asked(conversation)]  # type: ignore[arg-type]


def test_it_has_all_the_apps(reference: Reference) -> None:
    told = reference.client.http.get("/list-apps").json()

    assert told == ["support", "support_agenttool", "support_confirm", "support_resumable", "support_steps"]


def test_it_is_the_version_that_it_says(reference: Reference) -> None:
    assert reference.client.http.get("/version").json()["version"] == reference.version


def test_a_normal_turn_looks_up_and_sends_one_mail_under_the_id_of_its_call(
    reference: Reference, mailbox: Mailbox
) -> None:
    conversation = reference.new_session()

    frames = conversation.send("normal")

    assert called(frames) == ["lookup_customer", "send_email"]
    assert parts(frames, "text") == [f"Done: customer {conversation.customer} is taken care of."]
    [mail] = mailbox.about(conversation.customer)
    assert mail.call_id == parts(frames, "functionCall")[1]["id"]
    assert len(reference.rows(conversation)) == 6


def test_a_mail_is_kept_as_an_artifact_which_the_stream_tells_in_a_frame_of_its_own(
    reference: Reference, mailbox: Mailbox
) -> None:
    conversation = reference.new_session()

    frames = conversation.send("normal")

    [told] = [frame for frame in frames if frame["actions"]["artifactDelta"]]
    answered = frames[frames.index(told) - 1]
    assert not told.get("content")
    assert told["id"] == answered["id"]  # one row, told in two frames
    [mail] = mailbox.about(conversation.customer)
    assert reference.client.http.get(f"{conversation.path}/artifacts").json() == [f"{mail.call_id}.eml"]
    [kept] = [path for path in reference.service.artifacts.rglob(f"{mail.call_id}.eml") if path.is_file()]
    assert mail.call_id in kept.read_text()


def test_a_429_at_first_is_over_when_the_user_tries_again(reference: Reference, mailbox: Mailbox) -> None:
    conversation = reference.new_session()

    assert ended_with_429(conversation.send("rate_before:2:0.5"))
    assert ended_with_429(conversation.again().send("rate_before:2:0.5"))
    frames = conversation.again().send("rate_before:2:0.5")

    assert called(frames) == ["lookup_customer", "send_email"]
    assert len(mailbox.about(conversation.customer)) == 1
    assert answers(reference, conversation) == ["TooMany", "TooMany", "Calls", "Calls", "Say"]


@pytest.mark.parametrize(("script", "delay"), [("rate_before:1:0.5", "0.5s"), ("rate_before_huge", "600s")])
def test_a_429_asks_for_the_delay_of_its_script(reference: Reference, script: str, delay: str) -> None:
    frames = reference.new_session().send(script)

    assert f"'retryDelay': '{delay}'" in frames[-1]["error"]


def test_a_429_comes_after_the_mail(reference: Reference, mailbox: Mailbox) -> None:
    conversation = reference.new_session()

    frames = conversation.send("rate_after")

    assert ended_with_429(frames)
    assert called(frames) == ["lookup_customer", "send_email"]
    assert len(mailbox.about(conversation.customer)) == 1
    assert answers(reference, conversation) == ["Calls", "Calls", "TooMany"]


def test_the_newer_line_names_the_429_in_a_row_and_the_older_does_not(reference: Reference) -> None:
    conversation = reference.new_session()

    frames = conversation.send("rate_after")

    codes = [row["error_code"] for row in reference.rows(conversation) if row.get("error_code")]
    newer = reference.version.startswith("2.")
    assert codes == (["RESOURCE_EXHAUSTED"] if newer else [])
    assert frames[-1]["error"].startswith("_ResourceExhaustedError") == newer


def test_a_call_in_the_first_retry_is_followed_by_a_429(reference: Reference, mailbox: Mailbox) -> None:
    conversation = reference.new_session()

    first = conversation.send("call_then_rate_in_retry")
    second = conversation.again().send("call_then_rate_in_retry")

    assert ended_with_429(first) and called(first) == []
    assert ended_with_429(second) and called(second) == ["lookup_customer", "send_email"]
    assert len(mailbox.about(conversation.customer)) == 1


def test_a_text_about_429_is_only_a_text(reference: Reference) -> None:
    frames = reference.new_session().send("says_429")

    [text] = parts(frames, "text")
    assert "429 RESOURCE_EXHAUSTED" in text
    assert not [frame for frame in frames if "error" in frame]


def test_an_empty_turn_leaves_only_the_users_row(reference: Reference) -> None:
    conversation = reference.new_session()

    assert conversation.send("empty") == []
    assert [row["author"] for row in reference.rows(conversation)] == ["user"]


@pytest.mark.parametrize("script", ["empty:1", "empty_stop:1", "thought_only:1"])
def test_a_turn_that_was_empty_once_is_normal_the_next_time(
    reference: Reference, mailbox: Mailbox, script: str
) -> None:
    conversation = reference.new_session()

    assert called(conversation.send(script)) == []
    assert called(conversation.again().send(script)) == ["lookup_customer", "send_email"]
    assert len(mailbox.about(conversation.customer)) == 1


def test_the_model_is_silent_after_the_mail(reference: Reference, mailbox: Mailbox) -> None:
    conversation = reference.new_session()

    frames = conversation.send("empty_after_call")

    assert called(frames) == ["lookup_customer", "send_email"]
    assert parts(frames, "text") == []
    assert answers(reference, conversation) == ["Calls", "Calls", "Nothing"]


def test_a_thought_alone_is_a_row_with_nothing_but_a_thought(reference: Reference) -> None:
    conversation = reference.new_session()

    conversation.send("thought_only")

    [part] = reference.rows(conversation)[-1]["content"]["parts"]
    assert part["thought"] is True


def test_two_mails_go_out_in_one_step(reference: Reference, mailbox: Mailbox) -> None:
    conversation = reference.new_session()

    frames = conversation.send("parallel")

    assert {mail.call_id for mail in mailbox.about(conversation.customer)} == {
        call["id"] for call in parts(frames, "functionCall")
    }


def test_a_failing_sibling_takes_the_answer_of_a_mail_that_went_out(
    reference: Reference, mailbox: Mailbox
) -> None:
    conversation = reference.new_session()

    frames = conversation.send("parallel_fail")

    assert called(frames) == ["send_email", "charge_card"]
    assert "does not answer" in frames[-1]["error"]
    assert len(mailbox.about(conversation.customer)) == 1
    assert "function_response" not in str(reference.rows(conversation))


def test_a_tool_that_raises_ends_the_run_without_an_answer(reference: Reference) -> None:
    frames = reference.new_session().send("tool_error")

    assert called(frames) == ["lookup_customer", "charge_card"]
    assert [one["name"] for one in parts(frames, "functionResponse")] == ["lookup_customer"]
    assert "does not answer" in frames[-1]["error"]


def test_a_streamed_call_comes_in_parts_under_other_ids(reference: Reference) -> None:
    conversation = reference.new_session()

    frames = conversation.send("stream_call", streaming=True)

    pieces = [frame["content"]["parts"][0] for frame in frames if frame.get("partial")]
    seen = {piece["functionCall"]["id"] for piece in pieces if "functionCall" in piece}
    final = {call["id"] for call in parts(frames, "functionCall")}
    assert len(seen) == 4
    assert len(final) == 2
    assert not seen & final
    assert not any(row.get("partial") for row in reference.rows(conversation))


def test_a_call_that_had_only_begun_is_followed_by_a_429(reference: Reference, mailbox: Mailbox) -> None:
    conversation = reference.new_session()

    frames = conversation.send("stream_call_rate", streaming=True)

    assert frames[0]["partial"] and frames[0]["content"]["parts"][0]["functionCall"]["name"] == "send_email"
    assert ended_with_429(frames)
    assert mailbox.about(conversation.customer) == []


def test_a_mail_that_needs_a_confirmation_goes_out_once_it_is_given(
    reference: Reference, mailbox: Mailbox
) -> None:
    conversation = reference.new_session("support_confirm")

    frames = conversation.send("confirm")
    assert mailbox.about(conversation.customer) == []
    asked = parts(frames, "functionCall")[-1]
    assert asked["name"] == "adk_request_confirmation"
    conversation.answer({"id": asked["id"], "name": asked["name"], "response": {"confirmed": True}})

    assert len(mailbox.about(conversation.customer)) == 1


def test_a_mail_that_was_not_confirmed_never_goes_out(reference: Reference, mailbox: Mailbox) -> None:
    conversation = reference.new_session("support_confirm")

    asked = parts(conversation.send("confirm"), "functionCall")[-1]
    conversation.answer({"id": asked["id"], "name": asked["name"], "response": {"confirmed": False}})

    assert mailbox.about(conversation.customer) == []


def test_what_an_agent_calls_inside_a_tool_is_in_no_row(reference: Reference, mailbox: Mailbox) -> None:
    conversation = reference.new_session("support_agenttool")

    frames = conversation.send("normal")

    assert called(frames) == ["mailer"]
    assert len(mailbox.about(conversation.customer)) == 1
    assert "send_email" not in str(reference.rows(conversation))


def test_two_agents_work_one_after_the_other(reference: Reference, mailbox: Mailbox) -> None:
    conversation = reference.new_session("support_steps")

    frames = conversation.send("normal")

    assert called(frames) == ["lookup_customer", "send_email"]
    assert {frame["author"] for frame in frames} == {"finder", "writer"}
    assert len(mailbox.about(conversation.customer)) == 1


def test_a_client_that_leaves_does_not_take_the_mail_back(reference: Reference, mailbox: Mailbox) -> None:
    conversation = reference.new_session()

    def mail_is_out(frame: Frame) -> bool:
        return calls("send_email")(frame) and bool(mailbox.wait_for(conversation.customer))

    frames = conversation.leave_after("slow:5", mail_is_out)

    assert parts(frames, "functionResponse") == []
    assert len(mailbox.about(conversation.customer)) == 1
