"""One signed POST of JSON, and what its answer says."""

import httpx

from approvals.connectors import answers, line

ANSWER_LIMIT = 64 * 1024


def post(url: httpx.URL, body: bytes, signature: dict[str, str], wire: line.Line) -> tuple[int, str]:
    """Send the request; return the answer's status and what it says in words, if it says anything.

    Raises one of `line.TROUBLE`.
    """
    headers = {
        "content-type": "application/json",
        "user-agent": "Secondlook",
        "accept-encoding": "identity",
        "connection": "close",
        **signature,
    }
    with (
        line.client(wire, url) as client,
        client.stream("POST", url, content=body, headers=headers) as answer,
    ):
        return answer.status_code, _words(answer)


def _words(answer: httpx.Response) -> str:
    """What the answer's body says, in quotes; empty where it says nothing readable.

    The status has already decided: trouble with the body changes nothing.
    """
    body = b""
    try:
        for chunk in answer.iter_raw():
            body += chunk
            if len(body) > ANSWER_LIMIT:
                return ""
    except line.TROUBLE:
        return ""
    return answers.quoted(body)
