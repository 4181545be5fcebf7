"""One event of ADK becomes a Row: everything that real runs stored and streamed, and what nobody would expect."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from approvals.connectors.adk import shapes
from approvals.connectors.adk.rows import stored_row, streamed_row
from approvals.rules.digests import canonical
from approvals.rules.observed import Row, end_of
from tests.connectors.adk import samples

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
LOOKUP = {"lookup_customer": "answered"}

# name -> (what came of the calls, how the invocation ended as far as its rows tell)
STORED: dict[str, tuple[dict[str, str], str | None]] = {
    "confirm_yes": (LOOKUP | {"send_email": "awaiting"}, "completed"),
    "confirm_yes_answer": (LOOKUP | {"send_email": "answered"}, "completed"),
    "crash_parallel": ({"lookup_customer": "open", "send_email": "open"}, None),
    "crash_plain": (LOOKUP | {"send_email": "open"}, None),
    "disconnect_support": (LOOKUP | {"send_email": "aborted"}, "failed"),
    "empty": ({}, None),
    "empty_stop": ({}, "failed"),
    "injected": ({"send_email": "answered"}, None),
    "normal": (LOOKUP | {"send_email": "answered"}, "completed"),
    "orphan_support_slow": (LOOKUP | {"send_email": "open"}, None),
    "orphan_support_slow_answered": (LOOKUP | {"send_email": "supplied"}, "completed"),
    "parallel": (LOOKUP | {"send_email": "answered"}, "completed"),
    "parallel_fail": ({"send_email": "open", "charge_card": "open"}, "failed"),
    "rate_after": (LOOKUP | {"send_email": "answered"}, "failed"),
    "rate_before": ({}, "failed"),
    "rewound": (LOOKUP | {"send_email": "answered"}, "completed"),
    "stream_call": (LOOKUP, "completed"),
    "thought_only": ({}, "failed"),
    "tool_error": ({"charge_card": "open"}, "failed"),
}
# What a client saw, where it is not what the table shows.
STREAMED: dict[str, tuple[dict[str, str], str | None]] = STORED | {
    "confirm_yes_answer": ({"send_email": "answered"}, "completed"),
    "disconnect_support": (LOOKUP | {"send_email": "open"}, None),
    "orphan_support_slow_answered": ({}, "completed"),
    "stream_call": ({"lookup_customer (partial)": "open"} | LOOKUP, "completed"),
}


@pytest.mark.parametrize("name", samples.names("db"))
def test_stored_rows_tell_what_a_run_did(name: str) -> None:
    rows = samples.stored(name)
    end = end_of(rows, root_is_llm=True)
    assert (samples.calls(rows), end and end.outcome) == STORED[name]
    assert end is None or end.origin == "inferred"


@pytest.mark.parametrize("name", samples.names("sse"))
def test_a_stream_tells_what_a_run_did(name: str) -> None:
    rows = samples.streamed(name)
    end = end_of(rows, root_is_llm=True)
    assert (samples.calls(rows), end and end.outcome) == STREAMED[name]


@pytest.mark.parametrize("name", sorted({*samples.names("db")} & {*samples.names("sse")}))
def test_a_row_has_the_same_lines_however_it_came(name: str) -> None:
    stored = {row.event_id: row for row in samples.stored(name)}
    for row in samples.streamed(name):
        if not any((line.content or {}).get("partial") for line in row.lines) and row.lines:
            assert row.lines == stored[row.event_id].lines
            assert (row.ends, row.answers, row.input) == (stored[row.event_id].ends, (), None)


def test_everything_that_is_read_can_be_written_as_canonical_json() -> None:
    for name in samples.names("db"):
        for row in samples.stored(name):
            canonical([line.content for line in row.lines])


def test_a_confirmation_names_the_call_it_holds_and_the_request_that_asks() -> None:
    asked, placeholder = samples.streamed("confirm_yes")[-2:]
    (line,) = asked.lines
    assert placeholder.lines == () and placeholder.ends == asked.ends == "waiting"
    assert line.call_id == "adk-ad524391-f7bd-4bdf-9ff8-1080d42fde6c" and line.name == "send_email"
    assert line.content is not None
    assert line.content["confirmation"]["id"] == "adk-ac5ab9dd-f684-419b-a233-1dfb17542ef6"
    assert line.content["confirmation"]["hint"].startswith(
        "Please approve or reject the tool call send_email()"
    )


def test_an_answered_confirmation_is_a_message_and_no_input() -> None:
    answer = samples.stored("confirm_yes_answer")[6]
    assert [line.content for line in answer.lines] == [{"text": "confirmed", "author": "user"}]
    assert answer.answers == ("adk-ac5ab9dd-f684-419b-a233-1dfb17542ef6",)
    assert answer.input is None


def test_a_restored_row_marks_its_lines_and_its_session() -> None:
    rows = samples.stored("injected")
    assert {line.origin for row in rows for line in row.lines} == {"restored"}
    assert all(row.marks_session for row in rows)
    assert not any(row.marks_session for row in samples.stored("normal"))


def test_a_rewind_and_changes_of_state_are_rows_without_a_word() -> None:
    rewind = samples.stored("rewound")[-1]
    assert (rewind.lines, rewind.input, rewind.ends) == ((), None, None)
    state = event(author="user", actions={"state_delta": {"a": 1}})
    assert (state.lines, state.input, state.ends) == ((), None, None)


def test_the_input_is_what_run_sse_takes_and_nothing_inside_it_is_renamed() -> None:
    row = event(
        author="user",
        content={
            "role": "user",
            "parts": [
                {"text": "see this"},
                {"inline_data": {"mime_type": "image/png", "data": "aGk=", "display_name": "a.png"}},
                {"file_data": {"file_uri": "gs://b/c", "mime_type": "text/plain"}},
                {"function_response": {"id": "1", "name": "f", "response": {"snake_key": {"other_key": 1}}}},
            ],
        },
    )
    assert row.input == {
        "role": "user",
        "parts": [
            {"text": "see this"},
            {"inlineData": {"mimeType": "image/png", "data": "aGk=", "displayName": "a.png"}},
            {"fileData": {"fileUri": "gs://b/c", "mimeType": "text/plain"}},
            {"functionResponse": {"id": "1", "name": "f", "response": {"snake_key": {"other_key": 1}}}},
        ],
    }
    assert row.lines[0].content == {"text": "see this", "author": "user", "files": ["a.png", "gs://b/c"]}
    assert row.answers == ("1",)


def test_arguments_and_results_keep_their_keys_in_both_spellings() -> None:
    mine = {"functionCall": {"mimeType": [{"endOfAgent": 1}]}, "snake_case": None}
    for call_key, result_key in (
        ("function_call", "function_response"),
        ("functionCall", "functionResponse"),
    ):
        row = event(
            content={
                "parts": [{call_key: {"id": "1", "name": "f", "args": mine}}, {result_key: answer(mine)}]
            }
        )
        assert [line.content for line in row.lines] == [{"args": mine}, {"result": mine}]


@pytest.mark.parametrize(
    ("response", "also", "state"),
    [
        ({"error": "no such customer"}, {}, (None, True, {"error": "no such customer"})),
        ({"error": None}, {}, (None, False, {"result": {"error": None}})),
        ({"error": "x", "id": 1}, {}, (None, False, {"result": {"error": "x", "id": 1}})),
        (None, {}, (None, False, {"result": None})),
        ({"result": 1}, {"author": "user"}, ("supplied", False, {"result": {"result": 1}})),
        ({"error": "it bounced"}, {"author": "user"}, ("supplied", True, {"error": "it bounced"})),
        (
            {"error": "Invocation was aborted by client."},
            {},
            ("aborted", True, {"error": "Invocation was aborted by client."}),
        ),
        ({"a": 1}, {"error_code": "INVOCATION_ABORTED"}, ("aborted", False, {"result": {"a": 1}})),
        (
            {"error": "This tool call is rejected."},
            {},
            ("rejected", True, {"error": "This tool call is rejected."}),
        ),
    ],
)
def test_an_answer_to_a_call_says_what_came_of_it(
    response: object, also: dict[str, Any], state: tuple[Any, ...]
) -> None:
    row = event(content={"parts": [{"function_response": answer(response)}]}, **also)
    result = row.lines[-1]
    assert (result.type, result.call_id) == ("tool_result", "1")
    assert (result.outcome, result.is_error, result.content) == state


def test_code_is_a_call_with_an_id_of_its_own() -> None:
    row = event(
        content={
            "parts": [
                {"executable_code": {"code": "1+1", "language": "PYTHON"}},
                {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "2"}},
                {"text": "It is 2."},
            ]
        }
    )
    message, call, result = row.lines
    assert message.content == {"text": "It is 2.", "author": "support"}
    assert (call.name, call.call_id, call.content) == (
        "code_execution",
        "ev#0",
        {"args": {"language": "PYTHON", "code": "1+1"}},
    )
    assert (result.call_id, result.content, row.ends) == ("ev#0", {"result": "2"}, "completed")


def test_code_that_failed_is_a_failed_call_after_which_the_agent_goes_on() -> None:
    row = event(
        content={
            "parts": [
                {"text": "so"},
                {"code_execution_result": {"outcome": "OUTCOME_FAILED", "output": "boom"}},
            ]
        }
    )
    assert (row.lines[1].is_error, row.lines[1].content, row.ends) == (True, {"error": "boom"}, None)


def test_a_call_without_an_id_gets_one() -> None:
    row = event(content={"parts": [{"text": "so"}, {"function_call": {"name": "f"}}]})
    assert [(line.call_id, line.content) for line in row.lines[1:]] == [("ev#1", {"args": {}})]


def test_parts_of_a_stream_say_nothing_but_their_calls() -> None:
    row = event(
        partial=True, content={"parts": [{"text": "Hel"}, {"functionCall": {"id": "1", "name": "f"}}]}
    )
    assert [(line.type, line.content) for line in row.lines] == [("tool_call", {"args": {}, "partial": True})]
    assert row.ends is None and row.event_id == "ev"
    assert event(partial=True, content={"parts": [{"functionResponse": answer({"a": 1})}]}).lines == ()


def test_a_request_for_credentials_does_not_bring_secrets_along() -> None:
    row = event(
        content={
            "parts": [
                {"function_call": {"id": "1", "name": "adk_request_credential", "args": {"secret": "s3"}}}
            ]
        }
    )
    back = event(
        author="user",
        content={"parts": [{"function_response": answer({"token": "s3"}, "adk_request_credential")}]},
    )
    assert row.lines[0].content == {"args": {}} and back.lines[0].content == {"result": None}


@pytest.mark.parametrize(
    ("parts", "ends"),
    [
        ([{"text": "Done."}], "completed"),
        ([{"text": "  \n"}], None),
        ([{"text": "hm", "thought": True}], None),
        ([{"text": "I will"}, {"function_call": {"id": "1", "name": "f"}}], None),
        ([{"inline_data": {"mime_type": "image/png", "data": ""}}], "completed"),
        ([{"executable_code": {"code": "1"}}, {"text": "let me see"}], None),
        ([], None),
    ],
)
def test_a_final_answer_is_a_text_after_which_nothing_comes(parts: list[Any], ends: str | None) -> None:
    assert event(content={"parts": parts}).ends == ends


def test_only_the_mark_of_the_root_agent_proves_the_end() -> None:
    mark = {"actions": {"end_of_agent": True}}
    root = event(**mark, node_info={"path": "support@1"})
    assert (root.ends, root.proven, root.lines) == ("completed", True, ())
    for other in ({"node_info": {"path": "support@1/sub@1"}}, {"node_info": {"path": ""}}, {}):
        assert (event(**mark, **other).ends, event(**mark, **other).proven) == (None, False)


def test_the_time_is_the_events_own_and_the_columns_where_it_has_none() -> None:
    own = datetime(2026, 11, 29, 15, 40, 2, 500000, tzinfo=UTC)
    assert event(timestamp=1795966802.5).at == own
    assert stored({"author": "support", "timestamp": 1795966802.5}).at == own
    for nonsense in (None, "now", True, 1e300, [1]):
        assert stored({"author": "support", "timestamp": nonsense}).at == AT


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("null", "holds no event"),
        ("", "holds no event"),
        ("[1]", "not an object"),
        ('"x"', "not an object"),
        ("{", "not valid JSON"),
        ("{}", "no author"),
        ('{"author": 5}', "no author"),
        ('{"author": "a", "content": "x"}', "content is not an object"),
        ('{"author": "a", "content": {"parts": {}}}', "parts are not a list"),
        ('{"author": "a", "content": {"parts": [1]}}', "parts are not a list"),
        ('{"author": "a", "content": {"parts": [{"text": 1}]}}', "no text"),
        ('{"author": "a", "content": {"parts": [{"function_call": "f"}]}}', "function_call is not an object"),
        ('{"author": "a", "content": {"parts": [{"function_call": {"args": 1}}]}}', "args is not an object"),
        ('{"author": "a", "content": {"parts": [{"remote_call": {}}]}}', "may be a call"),
        ('{"author": "a", "actions": []}', "actions is not an object"),
        (
            '{"author": "a", "content": {"parts": [{"function_call": {"id": "%s"}}]}}' % ("c" * 501),
            "longer than 400 characters",
        ),
        ('{"author": "a", "x": ' + "[" * 70 + "]" * 70 + "}", "more than 64 levels"),
        ('{"author": "a", "x": ' + "[" * 100_000 + "]" * 100_000 + "}", "more than 64 levels"),
    ],
)
def test_what_cannot_be_read_is_a_finding(text: str, words: str) -> None:
    row = stored_row(text, event_id="ev", invocation_id="e-1", at=AT, digest=b"d")
    (finding,) = row.lines
    assert (finding.type, finding.origin, row.digest, row.invocation_id) == (
        "finding",
        "unreadable",
        b"d",
        "e-1",
    )
    assert finding.content is not None and words in finding.content["detail"]


@pytest.mark.parametrize(
    "event", [None, [], {}, {"author": "a"}, {"author": "a", "id": 1, "invocationId": "e"}]
)
def test_a_stream_of_nonsense_is_a_finding_too(event: object) -> None:
    assert [line.origin for line in streamed_row(event).lines] == ["unreadable"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a\x00b", "a\ufffdb"),
        ("\ud83d", "\ufffd"),
        ("😀", "😀"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (10**30, "1" + "0" * 30),
        (2**63 - 1, 2**63 - 1),
        ({"a\x00": ["\udc00"]}, {"a\ufffd": ["\ufffd"]}),
    ],
)
def test_what_nobody_could_store_is_replaced(written: object, read: object) -> None:
    row = event(content={"parts": [{"function_call": {"id": "1", "name": "f", "args": {"x": written}}}]})
    assert row.lines[0].content == {"args": {"x": read}}
    canonical(row.lines[0].content).encode()


@pytest.mark.parametrize("number", ["1e999", "-1" + "0" * 400 + ".5", "1" * 5000, "NaN", "Infinity"])
def test_numbers_of_any_size_come_out_of_the_table_as_something_json_can_say(number: str) -> None:
    call = {"function_call": {"id": "1", "name": "f", "args": {"x": "NUMBER"}}}
    text = json.dumps({"author": "a", "content": {"parts": [call]}}).replace('"NUMBER"', number)
    row = stored_row(text, event_id="ev", invocation_id="e-1", at=AT, digest=None)
    assert row.lines[0].content == {"args": {"x": number}}
    canonical(row.lines[0].content)


def test_every_key_that_is_streamed_is_one_that_is_stored() -> None:
    for streamed, stored_key in shapes._SNAKE.items():
        assert shapes._camel_key(stored_key) == streamed


def answer(response: object, name: str = "f") -> dict[str, Any]:
    return {"id": "1", "name": name, "response": response}


def event(**fields: Any) -> Row:
    """An event of the agent `support` as it would be streamed, in whichever spelling."""
    return streamed_row({"id": "ev", "invocation_id": "e-1", "author": "support", "timestamp": 1.0} | fields)


def stored(data: object) -> Row:
    return stored_row(json.dumps(data), event_id="ev", invocation_id="e-1", at=AT, digest=b"d" * 32)
