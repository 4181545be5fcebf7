"""What outlives the reference service's process: sessions, memory, artifacts; and what tests do to it."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.real.adk.client import called, calls, parts
from tests.real.adk.conftest import VERSIONS, Start
from tests.real.adk.mailbox import Mailbox
from tests.real.adk.running import Reference

pytestmark = pytest.mark.real


def test_a_killed_service_leaves_a_call_without_an_answer(reference: Reference, mailbox: Mailbox) -> None:
    conversation = reference.new_session()

    with conversation.sending("slow:60") as sending:
        sending.wait_for(calls("send_email"))
        mailbox.wait_for(conversation.customer)
        reference.kill()

    assert sending.error is not None
    assert "function_call" in str(reference.rows(conversation))
    assert "function_response" not in str(reference.rows(conversation))


def test_an_open_call_that_is_answered_from_outside_is_not_made_again(
    reference: Reference, mailbox: Mailbox
) -> None:
    conversation = reference.new_session()
    with conversation.sending("slow:60") as sending:
        frame = sending.wait_for(calls("send_email"))
        mailbox.wait_for(conversation.customer)
        reference.kill()
    reference.start()

    [call] = parts([frame], "functionCall")
    frames = conversation.answer({"id": call["id"], "name": "send_email", "response": {"status": "sent"}})

    assert parts(frames, "text") == ["The e-mail is on its way."]
    assert len(mailbox.about(conversation.customer)) == 1


def test_a_pause_that_is_wanted_once_does_not_come_again(reference: Reference, mailbox: Mailbox) -> None:
    conversation = reference.new_session()
    with conversation.sending("slow:60:once") as sending:
        mailbox.wait_for(conversation.customer)
        reference.kill()
    assert called(sending.frames) == ["send_email"]
    reference.start()

    frames = conversation.again().send("slow:60:once")

    assert parts(frames, "text") == ["The e-mail is on its way."]
    assert len(mailbox.about(conversation.customer)) == 2


def test_memory_of_one_run_is_read_by_the_next_even_when_the_process_was_killed_between(
    reference: Reference,
) -> None:
    conversation = reference.new_session()
    conversation.send("normal")
    reference.kill()
    reference.start()

    [text] = parts(conversation.again().send("normal"), "text")

    assert text.endswith(f"Earlier you asked: {conversation.message('normal')}")


def test_memory_belongs_to_one_agent_and_one_user(reference: Reference) -> None:
    conversation = reference.new_session()
    conversation.send("normal")

    of_another_user = reference.new_session().send("normal")
    of_another_agent = reference.new_session("support_resumable", conversation.user).send("normal")

    assert "Earlier" not in str(of_another_user)
    assert "Earlier" not in str(of_another_agent)


def test_a_run_that_was_killed_is_not_remembered(reference: Reference, mailbox: Mailbox) -> None:
    conversation = reference.new_session()
    with conversation.sending("slow:60"):
        mailbox.wait_for(conversation.customer)
        reference.kill()
    reference.start()

    assert "Earlier" not in str(conversation.again().send("normal"))


def test_an_observer_reads_the_rows_and_changes_none(reference: Reference) -> None:
    conversation = reference.new_session()
    conversation.send("normal")

    with psycopg.connect(reference.reader_url, autocommit=True) as observer:
        found = observer.execute(
            "select count(*) from events where session_id = %s", [conversation.session]
        ).fetchone()
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            observer.execute("delete from events")
        observer.execute("set default_transaction_read_only = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            observer.execute("delete from events")

    assert found == (6,)


def test_ready_made_events_are_marked_in_the_rows_of_the_newer_line_only(reference: Reference) -> None:
    told = reference.new_session()
    told.send("normal")

    injected = reference.new_session(events=told.history())

    rows = reference.rows(injected)
    assert len(rows) == 6
    marked = ["__adk_internal_restored_event" in str(row.get("custom_metadata")) for row in rows]
    assert marked == [reference.version.startswith("2.")] * 6


def test_a_row_is_edited_in_place(reference: Reference) -> None:
    conversation = reference.new_session()
    conversation.send("normal")

    reference.edit(conversation.events()[-1]["id"], error_code="EDITED")

    assert reference.rows(conversation)[-1]["error_code"] == "EDITED"


def test_a_rewound_session_gets_a_marker_and_loses_nothing(reference: Reference) -> None:
    conversation = reference.new_session()
    conversation.send("normal")

    reference.rewind(conversation, conversation.events()[0]["invocationId"])

    rows = reference.rows(conversation)
    assert len(rows) == 7
    assert rows[-1]["actions"]["rewind_before_invocation_id"] == rows[0]["invocation_id"]


def test_a_deleted_session_leaves_no_row(reference: Reference) -> None:
    conversation = reference.new_session()
    conversation.send("normal")

    conversation.delete()

    assert reference.rows(conversation) == []


@pytest.fixture(scope="module", params=VERSIONS)
def with_s3(request: pytest.FixtureRequest, service: Start, s3_endpoint: str) -> Iterator[Reference]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "anybody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "anything")
        with service(request.param, s3=f"s3://letters/reference?endpoint={s3_endpoint}") as reference:
            yield reference


def test_artifacts_go_to_a_store_that_speaks_s3(with_s3: Reference, mailbox: Mailbox) -> None:
    conversation = with_s3.new_session()

    conversation.send("normal")

    [mail] = mailbox.about(conversation.customer)
    http = with_s3.client.http
    path = f"{conversation.path}/artifacts"
    assert http.get(path).json() == [f"{mail.call_id}.eml"]
    assert http.get(f"{path}/{mail.call_id}.eml").json()["inlineData"]["mimeType"] == "message/rfc822"
    assert http.get(f"{path}/{mail.call_id}.eml/versions").json() == [0]
    assert not list(with_s3.service.artifacts.rglob("*.eml"))


def test_an_artifact_is_deleted_from_the_store(with_s3: Reference) -> None:
    conversation = with_s3.new_session()
    conversation.send("normal")
    path = f"{conversation.path}/artifacts"
    [name] = with_s3.client.http.get(path).json()

    with_s3.client.http.delete(f"{path}/{name}").raise_for_status()

    assert with_s3.client.http.get(path).json() == []
    assert with_s3.client.http.get(f"{path}/{name}").status_code == 404
