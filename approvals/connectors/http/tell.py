"""Tells a runtime what became of a campaign. This may happen twice: the message's id makes the second one nothing new.

2xx: told. 410: it wants to hear no more. Everything else, an address that cannot be called among it: not told, and to
be tried again.
"""

import time
from urllib.parse import urlsplit

import httpcore

from approvals.connectors import addresses, answers, line, net
from approvals.connectors.addresses import BadAddress
from approvals.connectors.http.order import News, Told
from approvals.connectors.http.post import post
from approvals.rules import webhooks

GONE = 410


def tell(news: News) -> Told:
    """Post the news to its address, signed now, and say what came of it.

    Never raises for trouble with the address or the network. Takes at most `news.timeout_s` seconds.
    """
    deadline = net.Deadline.after(news.timeout_s)
    body = news.body.encode()
    try:
        url = addresses.checked(news.url, {urlsplit(news.url).netloc})
        signature = webhooks.signed_headers(news.secret, news.message_id, int(time.time()), body)
    except BadAddress as bad:
        return Told("not_told", str(bad))
    except ValueError as error:
        return Told("not_told", f"The callback could not be signed: {error}.")
    try:
        wire = line.Line(net.resolve(url.host, addresses.port_of(url), deadline), deadline)
    except OSError as error:
        return Told("not_told", f"The host {url.host} was not found: {net.why(error)}.")
    try:
        status, said = post(url, body, signature, wire)
    except line.TROUBLE as error:
        return Told("not_told", _trouble(error, news.timeout_s))
    return _of_answer(status, said)


def _of_answer(status: int, said: str) -> Told:
    answer = answers.status_words(status)
    if 200 <= status < 300:
        return Told("told", f"It took the callback ({answer}).")
    if status == GONE:
        return Told("gone", f"It answered that it wants no more callbacks ({answer}){said}.")
    if 300 <= status < 400:
        return Told("not_told", f"It answered with a redirect ({answer}), which is not followed.")
    return Told("not_told", f"It answered with an error ({answer}){said}.")


def _trouble(error: Exception, timeout_s: float) -> str:
    if isinstance(error, TimeoutError):
        return f"It did not answer within {timeout_s:g} seconds."
    if isinstance(error, httpcore.ProtocolError):
        return "It gave no answer that can be read."
    return f"It could not be reached: {net.why(error)}."
