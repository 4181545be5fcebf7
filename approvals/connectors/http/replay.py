"""Asks a runtime to start a replay, once, and says honestly what is known afterwards.

2xx: accepted. Not one byte of the request written, 3xx, 4xx: refused, nothing was started. Everything else
(5xx, a broken connection or a time-out after the first byte, an answer nobody can read): in doubt.
"""

import time

import httpcore

from approvals.connectors import addresses, answers, line, net
from approvals.connectors.addresses import BadAddress
from approvals.connectors.http.order import Outcome, ReplayOrder
from approvals.connectors.http.post import post
from approvals.rules import digests, webhooks

NOT_KNOWN = "so whether it started the run is not known"


def start_replay(order: ReplayOrder) -> Outcome:
    """Post the order's payload to `{base_url}/replays`, signed, and classify what came of it.

    Never raises for trouble with the address or the network. Takes at most `order.timeout_s` seconds.
    """
    deadline = net.Deadline.after(order.timeout_s)
    body = digests.canonical(order.payload).encode()
    try:
        url = addresses.below(addresses.checked(order.base_url, order.allowed_hosts), "/replays")
        signature = webhooks.signed_headers(order.secret, order.job_id, int(time.time()), body)
    except BadAddress as bad:
        return _not_sent(str(bad))
    except ValueError as error:
        return _not_sent(f"The request could not be signed: {error}")
    try:
        wire = line.Line(net.resolve(url.host, addresses.port_of(url), deadline), deadline)
    except OSError as error:
        return _not_sent(f"The runtime {url.host} was not found: {net.why(error)}")
    try:
        status, said = post(url, body, signature, wire)
    except line.TROUBLE as error:
        return _after_trouble(error, wire.wrote, order.timeout_s)
    return _of_answer(status, said)


def _of_answer(status: int, said: str) -> Outcome:
    answer = answers.status_words(status)
    if 200 <= status < 300:
        return Outcome("accepted", f"The runtime accepted the replay ({answer}).")
    if 300 <= status < 400:
        return Outcome("refused", f"The runtime answered with a redirect ({answer}), which is not followed.")
    if 400 <= status < 500:
        return Outcome("refused", f"The runtime refused the replay ({answer}){said}.")
    return Outcome("in_doubt", f"The runtime answered with an error ({answer}){said}, {NOT_KNOWN}.")


def _after_trouble(error: Exception, wrote: bool, timeout_s: float) -> Outcome:
    if not wrote:
        return _not_sent(f"The runtime could not be reached: {net.why(error)}")
    if isinstance(error, TimeoutError):
        return Outcome("in_doubt", f"The runtime did not answer within {timeout_s:g} seconds, {NOT_KNOWN}.")
    if isinstance(error, httpcore.ProtocolError):
        return Outcome("in_doubt", f"The runtime gave no answer that can be read, {NOT_KNOWN}.")
    return Outcome("in_doubt", f"The connection broke after the request was sent, {NOT_KNOWN}.")


def _not_sent(reason: str) -> Outcome:
    return Outcome("refused", f"{reason.removesuffix('.')}; nothing was sent.")
