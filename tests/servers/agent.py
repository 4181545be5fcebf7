"""An agent that listens for what became of its campaigns, as its people might write it."""

import json
import time
from collections.abc import Sequence
from typing import Any

from approvals.rules import webhooks
from tests.servers.http import Act, Answer, HttpServer, Request


class Agent(HttpServer):
    """It trusts what is signed with its secret, and knows by the id what it heard before.

    What `acts` do not take is not heard; without them it takes everything.
    """

    def __init__(self, secret: str, acts: Sequence[Act] = ()) -> None:
        super().__init__(acts)
        self.secret = secret

    def answer(self, request: Request) -> Answer:
        """204, or 401 for what is not signed."""
        try:
            webhooks.verify(self.secret, request.headers, request.body, now=time.time())
        except webhooks.BadSignature:
            return Answer(401)
        return Answer(204, b"")

    @property
    def news(self) -> list[dict[str, Any]]:
        """What it was told, in order, each once; BadSignature where something is not to be trusted."""
        told: dict[str, dict[str, Any]] = {}
        for request in list(self.requests):
            id = webhooks.verify(self.secret, request.headers, request.body, now=time.time())
            told.setdefault(id, json.loads(request.body))
        return list(told.values())
