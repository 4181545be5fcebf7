"""A 429 as a provider gives it: an HTTP answer that google-genai turns into its error, and ADK into its own.

The answer never crosses a network: the client's transport is a function. Everything between it and the error that a
run ends with is the real thing, so the texts and codes are those of whatever versions are installed.
"""

from collections.abc import AsyncIterator

import httpx
from google.adk.models import Gemini, LlmRequest, LlmResponse
from google.genai import Client, types


class Refusing(Gemini):
    """Gemini behind a provider that answers every request with 429, asking for a delay in seconds."""

    delay_s: float

    @property
    def api_client(self) -> Client:
        """A client whose transport is the refusal."""
        transport = httpx.MockTransport(self._refuse)
        options = types.HttpOptions(async_client_args={"transport": transport})
        return Client(api_key="none-is-needed", vertexai=False, http_options=options)

    def _refuse(self, request: httpx.Request) -> httpx.Response:
        retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{self.delay_s:g}s"}
        error = {
            "code": 429,
            "message": "Resource has been exhausted (e.g. check quota).",
            "status": "RESOURCE_EXHAUSTED",
            "details": [retry],
        }
        return httpx.Response(429, json={"error": error}, request=request)


async def refuse(request: LlmRequest, *, delay_s: float, stream: bool) -> AsyncIterator[LlmResponse]:
    """Ask the provider that refuses: raises what ADK makes of a 429."""
    # Without the request's labels and tools: the question does not matter, and some clients refuse labels themselves.
    plain = LlmRequest(model="gemini-2.5-flash", contents=request.contents)
    async for response in Refusing(model="gemini-2.5-flash", delay_s=delay_s).generate_content_async(
        plain, stream
    ):
        yield response
