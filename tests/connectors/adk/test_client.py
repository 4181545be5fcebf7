"""What a service tells of itself and its apps, and what comes of asking for a session."""

import json
import time
from typing import Any

import pytest

from approvals.connectors.adk import (
    About,
    AppFacts,
    Outcome,
    about,
    app_facts,
    create_session,
    supported,
    usable,
)
from tests.connectors.adk.given import place
from tests.servers.http import Act, Answer, Drip, Half, Hang, HttpServer, ResetAfterRequest
from tests.servers.listener import unused_port

JSON = (("content-type", "application/json"),)
VERSION = {"version": "2.13.0", "language": "python", "language_version": "3.11.7"}
PAGE = Answer(200, b"<html></html>", (("content-type", "text/html"),))
PAGE_SAID = "The address answered with a page instead of ADK's API."
REDIRECT = Answer(302, headers=(("location", "http://127.0.0.1:1/"),))
REDIRECT_SAID = "The service answered with a redirect (302 Found), which is not followed."
DOWN = "The service could not be reached: the connection was refused."


def says(value: Any, status: int = 200) -> Answer:
    return Answer(status, json.dumps(value).encode(), JSON)


def test_a_service_tells_its_version_and_its_apps() -> None:
    with HttpServer([says(VERSION), says(["support", "wf"])] * 2) as server:
        assert about(place(server.url)) == About("2.13.0", ("support", "wf"))
        assert about(place(server.url + "/adk/")) == About("2.13.0", ("support", "wf"))
        assert [(one.method, one.target) for one in server.requests] == [
            ("GET", "/version"),
            ("GET", "/list-apps"),
            ("GET", "/adk/version"),
            ("GET", "/adk/list-apps"),
        ]


@pytest.mark.parametrize(
    ("acts", "told"),
    [
        ([PAGE], About(trouble=PAGE_SAID)),
        ([REDIRECT], About(trouble=REDIRECT_SAID)),
        ([says({}, 404)], About(trouble="The address answered, but is no ADK API (404 Not Found).")),
        ([says({"version": 2})], About(trouble="The address answered, but is no ADK API (200 OK).")),
        ([says([])], About(trouble="The address answered, but is no ADK API (200 OK).")),
        ([Answer(200, b"[" * 9999)], About(trouble="The address answered, but is no ADK API (200 OK).")),
        ([says("x" * 1_100_000)], About(trouble="The service gave an answer of more than 1 MB.")),
        ([ResetAfterRequest()], About(trouble="The service gave no answer that can be read.")),
        ([Half(b"220 mail ESMTP\r\n")], About(trouble="The service gave no answer that can be read.")),
        ([says(VERSION), PAGE], About("2.13.0", (), PAGE_SAID)),
        (
            [says(VERSION), says({}, 500)],
            About("2.13.0", (), "ADK did not list its apps (500 Internal Server Error)."),
        ),
    ],
)
def test_whatever_else_answers_is_told_in_a_sentence(acts: list[Act], told: About) -> None:
    with HttpServer(acts) as server:
        assert about(place(server.url)) == told


def test_a_service_that_is_down_or_not_allowed_is_told_in_a_sentence() -> None:
    assert about(place(f"http://127.0.0.1:{unused_port()}")) == About(trouble=DOWN)
    assert about(place("http://192.0.2.1")) == About(
        trouble="The host 192.0.2.1 is not one of the runtimes that an admin has added."
    )


@pytest.mark.parametrize(
    "stall", [Hang(), Drip(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")]
)
def test_a_slow_service_is_waited_for_no_longer_than_was_said(stall: Act) -> None:
    with HttpServer([stall]) as server:
        began = time.monotonic()
        told = about(place(server.url, timeout_s=0.5))
        assert time.monotonic() - began < 1.5
    assert told == About(trouble="The service did not answer within 0.5 seconds.")


@pytest.mark.parametrize(
    ("version", "may_be_used", "said"),
    [
        ("1.39.0", True, ""),
        ("1.39.1", True, ""),
        ("2.0.0b1", True, ""),
        ("2.13.9", True, ""),
        ("1.38.2", False, "too old"),
        ("0.5", False, "too old"),
        ("2.14.0", True, "newer"),
        ("10.0", True, "newer"),
        ("", False, "can be read"),
        ("latest", False, "can be read"),
        ("2", False, "can be read"),
    ],
)
def test_a_version_is_supported_or_the_sentence_says_which_are(
    version: str, may_be_used: bool, said: str
) -> None:
    sentence = supported(version)
    assert usable(version) is may_be_used
    assert (said in sentence) if said else sentence == ""
    assert not sentence or "google-adk 1.39 to 2.13" in sentence


def function(name: str, **properties: Any) -> dict[str, Any]:
    """A tool as 2.13 shows it."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"functionDeclarations": [{"name": name, "parametersJsonSchema": schema}]}


def older(name: str, **properties: Any) -> dict[str, Any]:
    """A tool as 1.39 shows it."""
    schema = {"type": "OBJECT", "properties": properties, "required": list(properties)}
    return {"functionDeclarations": [{"name": name, "parameters": schema}]}


def app_with(*tools: Any) -> Answer:
    agents = {"sub": {"name": "sub", "tools": list(tools)}, "root": {"name": "root", "tools": []}}
    return says({"name": "support", "rootAgentName": "root", "agents": agents})


PLAIN = function("lookup", customer_id={"type": "string"})


@pytest.mark.parametrize(
    ("act", "root", "hides_calls"),
    [
        (app_with(PLAIN), "llm", False),
        (app_with(older("lookup", customer_id={"type": "STRING"})), "llm", False),
        (app_with({"googleSearch": {}}, {"functionDeclarations": [{"name": "now"}]}), "llm", False),
        (app_with(function("order", request={"type": "integer"})), "llm", False),
        (app_with(function("order", request={"type": "string"}, size={"type": "string"})), "llm", False),
        (app_with(PLAIN, function("inner", request={"type": "string"})), "llm", True),
        (app_with(older("inner", request={"type": "STRING"})), "llm", True),
        (app_with(3), "llm", True),
        (app_with({"functionDeclarations": 3}), "llm", True),
        (app_with({"functionDeclarations": [{}]}), "llm", True),
        (says({"agents": {"root": 1}}), "llm", True),
        (says({"detail": "Root agent is not an LlmAgent"}, 400), "workflow", True),
        (says({"detail": "No."}, 400), "unknown", True),
        (says({"detail": "Agent not found"}, 404), "unknown", True),
        (says([]), "unknown", True),
        (PAGE, "unknown", True),
        (Answer(500, b"Internal Server Error"), "unknown", True),
        (ResetAfterRequest(), "unknown", True),
    ],
)
def test_an_app_is_asked_what_it_hides(act: Act, root: str, hides_calls: bool) -> None:
    with HttpServer([act]) as server:
        facts = app_facts(place(server.url), "support ü")
        assert server.requests[0].target == "/apps/support%20%C3%BC/app-info"
    assert (facts.root, facts.hides_calls) == (root, hides_calls)
    assert bool(facts.detail) is hides_calls


def test_the_tools_that_hide_calls_are_named() -> None:
    with HttpServer([app_with(function("inner", request={"type": "string"}))]) as server:
        assert app_facts(place(server.url), "support") == AppFacts(
            "llm",
            True,
            "Calls may happen that never reach the database, because these tools look like agents of their own: inner.",
        )


def made(act: Act, **changes: Any) -> Outcome:
    with HttpServer([act]) as server:
        return create_session(place(server.url, **changes), "support", "u1", "s1")


def test_a_session_is_asked_for_under_our_id() -> None:
    with HttpServer([says({"id": "secondlook-1", "events": []})]) as server:
        outcome = create_session(place(server.url), "support", "ü ?#%", "secondlook-1")
        [request] = server.requests
    assert outcome == Outcome("created", "The session was made.")
    assert (request.method, request.target) == ("POST", "/apps/support/users/%C3%BC%20%3F%23%25/sessions")
    assert json.loads(request.body) == {"sessionId": "secondlook-1"}


UNKNOWN = "Whether the session was made is not known."


@pytest.mark.parametrize(
    ("act", "kind", "detail"),
    [
        (
            says({"detail": "Session already exists: s1"}, 409),
            "exists",
            "There is a session of this id already.",
        ),
        (
            says({"detail": "Session already exists: s1"}, 400),
            "exists",
            "There is a session of this id already.",
        ),
        (
            says({"detail": "Not Found"}, 404),
            "refused",
            "ADK refused to make the session (404 Not Found): “Not Found”.",
        ),
        (REDIRECT, "refused", REDIRECT_SAID),
        (PAGE, "in_doubt", f"{PAGE_SAID} {UNKNOWN}"),
        (says({"id": "s2"}), "in_doubt", f"ADK gave no proper answer (200 OK). {UNKNOWN}"),
        (
            says({"detail": "No room"}, 500),
            "in_doubt",
            f"ADK gave no proper answer (500 Internal Server Error): “No room”. {UNKNOWN}",
        ),
        (ResetAfterRequest(), "in_doubt", f"The service gave no answer that can be read. {UNKNOWN}"),
    ],
)
def test_each_answer_about_a_session_has_one_meaning(act: Act, kind: Any, detail: str) -> None:
    assert made(act) == Outcome(kind, detail)


def test_a_session_that_was_not_answered_for_in_time_is_in_doubt() -> None:
    assert made(Hang(), timeout_s=0.3) == Outcome(
        "in_doubt", f"The service did not answer within 0.3 seconds. {UNKNOWN}"
    )


def test_a_service_that_is_down_makes_no_session() -> None:
    outcome = create_session(place(f"http://127.0.0.1:{unused_port()}"), "support", "u1", "s1")
    assert outcome == Outcome("refused", DOWN)


@pytest.mark.parametrize("name", ["a/b", ".", "..", ""])
def test_a_name_that_an_address_cannot_hold_is_not_asked_about(name: str) -> None:
    with HttpServer() as server:
        assert create_session(place(server.url), name, "u1", "s1").kind == "refused"
        assert create_session(place(server.url), "support", name, "s1").kind == "refused"
        assert app_facts(place(server.url), name).root == "unknown"
        assert server.connections == 0
