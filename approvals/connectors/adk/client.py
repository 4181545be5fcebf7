"""Short questions to an ADK service: what it is, what its apps are, and a new session, please."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

import httpx

from approvals.connectors import addresses, answers, line, net
from approvals.connectors.adk.orders import About, AppFacts, Outcome, Place

ANSWER_LIMIT = 1024 * 1024
OLDEST = (1, 39)
NEWEST = (2, 13)
SUPPORTED = "google-adk 1.39 to 2.13"

_UNSEEN = "Calls may happen that never reach the database"


def about(place: Place) -> About:
    """The version and the apps of the service; what is wrong is told in `trouble`."""
    told = _ask(place, "GET", "/version")
    version = told.value.get("version") if isinstance(told.value, dict) else None
    if told.status != 200 or not isinstance(version, str):
        return About(trouble=told.trouble or f"The address answered, but is no ADK API ({told.answer}).")
    version = answers.one_line(version)
    listed = _ask(place, "GET", "/list-apps")
    if listed.status != 200 or not isinstance(listed.value, list):
        return About(version, (), listed.trouble or f"ADK did not list its apps ({listed.answer}).")
    return About(version, tuple(app for app in listed.value if isinstance(app, str)))


def usable(version: str) -> bool:
    """Whether the connector works with this version of google-adk, or with one newer than it knows."""
    number = _number(version)
    return number is not None and number >= OLDEST


def supported(version: str) -> str:
    """What is to be said about a version: one plain sentence, or "" for one that is supported."""
    number = _number(version)
    if number is None:
        return (
            f"The service does not tell a version of google-adk that can be read; {SUPPORTED} are supported."
        )
    if number < OLDEST:
        return f"google-adk {version} is too old; {SUPPORTED} are supported, so update the service."
    if number > NEWEST:
        return f"google-adk {version} is newer than what this was tried with; {SUPPORTED} are supported."
    return ""


def app_facts(place: Place, app: str) -> AppFacts:
    """What is known of an app; whatever cannot be found out counts as hiding calls."""
    if (wrong := _unaskable(app)) is not None:
        return AppFacts("unknown", True, f"{_UNSEEN}: {wrong}.")
    told = _ask(place, "GET", f"/apps/{_part(app)}/app-info")
    if told.status == 400 and "not an LlmAgent" in _detail(told.value):
        return AppFacts("workflow", True, f"{_UNSEEN}: a workflow does not tell which tools its agents have.")
    agents = told.value.get("agents") if isinstance(told.value, dict) else None
    if told.status != 200 or not isinstance(agents, dict):
        reason = told.trouble.removesuffix(".") or f"the service does not describe the app ({told.answer})"
        return AppFacts("unknown", True, f"{_UNSEEN}: {reason}.")
    inner = [name for agent in agents.values() for name in _agent_tools(agent)]
    if inner:
        names = ", ".join(answers.one_line(name) for name in sorted(set(inner))[:5])
        return AppFacts(
            "llm", True, f"{_UNSEEN}, because these tools look like agents of their own: {names}."
        )
    return AppFacts("llm", False, "")


def create_session(place: Place, app: str, user: str, session_id: str) -> Outcome:
    """Make an empty session with that id; nothing runs in it yet."""
    for part in (app, user):
        if (wrong := _unaskable(part)) is not None:
            return Outcome("refused", f"The session was not made: {wrong}.")
    told = _ask(place, "POST", f"/apps/{_part(app)}/users/{_part(user)}/sessions", {"sessionId": session_id})
    if told.status == 200 and isinstance(told.value, dict) and told.value.get("id") == session_id:
        return Outcome("created", "The session was made.")
    if told.status == 409 or (told.status == 400 and "already exists" in _detail(told.value)):
        return Outcome("exists", "There is a session of this id already.")
    if told.kind == "nothing sent" or 300 <= told.status < 500:
        return Outcome(
            "refused", told.trouble or f"ADK refused to make the session ({told.answer}){told.said}."
        )
    reason = told.trouble or f"ADK gave no proper answer ({told.answer}){told.said}."
    return Outcome("in_doubt", f"{reason} Whether the session was made is not known.")


def _number(version: str) -> tuple[int, int] | None:
    found = re.match(r"(\d{1,4})\.(\d{1,4})(?![0-9])", version)
    return (int(found[1]), int(found[2])) if found else None


def _agent_tools(agent: object) -> list[str]:
    """The names of an agent's tools that look like another agent: they take one text named `request`.

    The calls of such an inner agent never reach the database. One that was given an input schema of its own cannot be
    told from a function.
    """
    tools = agent.get("tools") if isinstance(agent, dict) else None
    if not isinstance(tools, list):
        return ["(unreadable)"]
    found = []
    for tool in tools:
        declared = tool.get("functionDeclarations", []) if isinstance(tool, dict) else None
        for one in declared if isinstance(declared, list) else [{"name": "(unreadable)"}]:
            name = one.get("name") if isinstance(one, dict) else None
            if not isinstance(name, str):
                found.append("(unreadable)")
            elif name == "(unreadable)" or _takes_a_request(one):
                found.append(name)
    return found


def _takes_a_request(declaration: Mapping[str, Any]) -> bool:
    schema = declaration.get("parametersJsonSchema") or declaration.get("parameters")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or set(properties) != {"request"}:
        return False
    request = properties["request"]
    return isinstance(request, dict) and str(request.get("type")).lower() == "string"


def _part(text: str) -> str:
    """A text as one part of a path, in which nothing separates."""
    return quote(text, safe="")


def _unaskable(text: str) -> str | None:
    """Why ADK cannot be asked about something of this name, if it cannot."""
    if not text:
        return "a name is empty"
    if "/" in text or set(text) == {"."}:
        return "ADK's addresses cannot hold a name like this one, with a slash or of dots alone"
    return None


def _detail(value: object) -> str:
    return str(value.get("detail")) if isinstance(value, dict) else ""


@dataclass(frozen=True, slots=True)
class _Told:
    """What came of a question: a status with its JSON value, or a plain sentence of trouble."""

    kind: Literal["answered", "nothing sent", "no answer"]
    status: int = 0
    value: Any = None
    said: str = ""
    trouble: str = ""

    @property
    def answer(self) -> str:
        return answers.status_words(self.status)


def _ask(place: Place, method: str, path: str, body: Mapping[str, object] | None = None) -> _Told:
    deadline = net.Deadline.after(place.timeout_s)
    try:
        base = addresses.checked(place.base_url, place.allowed_hosts)
    except addresses.BadAddress as bad:
        return _Told("nothing sent", trouble=str(bad))
    url = addresses.below(base, path)
    try:
        wire = line.Line(net.resolve(url.host, addresses.port_of(url), deadline), deadline)
    except OSError as error:
        return _Told("nothing sent", trouble=f"The service {url.host} was not found: {net.why(error)}.")
    try:
        return _exchange(wire, method, url, body)
    except line.TROUBLE as error:
        if not wire.wrote:
            return _Told("nothing sent", trouble=f"The service could not be reached: {net.why(error)}.")
        if isinstance(error, TimeoutError):
            return _Told(
                "no answer", trouble=f"The service did not answer within {place.timeout_s:g} seconds."
            )
        return _Told("no answer", trouble="The service gave no answer that can be read.")


def _exchange(wire: line.Line, method: str, url: httpx.URL, body: Mapping[str, object] | None) -> _Told:
    headers = {
        "accept": "application/json",
        "user-agent": "Secondlook",
        "accept-encoding": "identity",
        "connection": "close",
    }
    with (
        line.client(wire, url) as client,
        client.stream(method, url, json=body, headers=headers) as answer,
    ):
        status, kind = answer.status_code, answer.headers.get("content-type", "")
        if 300 <= status < 400:
            words = answers.status_words(status)
            trouble = f"The service answered with a redirect ({words}), which is not followed."
            return _Told("answered", status, trouble=trouble)
        if kind.partition(";")[0].strip().lower() == "text/html":
            return _Told("answered", status, trouble="The address answered with a page instead of ADK's API.")
        received = b""
        for chunk in answer.iter_raw():
            received += chunk
            if len(received) > ANSWER_LIMIT:
                return _Told("answered", status, trouble="The service gave an answer of more than 1 MB.")
    try:
        return _Told("answered", status, json.loads(received), answers.quoted(received))
    except (ValueError, RecursionError):
        return _Told("answered", status)
