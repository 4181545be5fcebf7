"""The scripted model: a BaseLlm that needs no network and does what the word in the message says."""

from collections.abc import AsyncIterator

from google.adk.agents.callback_context import CallbackContext
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.genai import types
from reference.inside.refusal import refuse
from reference.requests import Book, Request
from reference.scripts import Call, Calls, Move, Nothing, Say, TooMany, Turn, next_move

MEMORY_MARK = "<PAST_CONVERSATIONS>"
MEMORY_END = "</PAST_CONVERSATIONS>"
OF_OTHER_AGENTS = "For context:"  # how ADK tells an agent what another one did
USAGE = types.GenerateContentResponseUsageMetadata(
    prompt_token_count=11, candidates_token_count=7, total_token_count=18
)


def note_who_asks(callback_context: CallbackContext, llm_request: LlmRequest) -> None:
    """A before-model callback: a request does not say whose it is, so it is labelled."""
    context = callback_context
    llm_request.config.labels = {
        **(llm_request.config.labels or {}),
        "user": context.user_id,
        "session": context.session.id,
        "invocation": context.invocation_id,
        "agent": context.agent_name,
    }


class ScriptedModel(BaseLlm):
    """Plays the scripts of `reference.scripts`; `plan` is what a normal turn of this agent calls."""

    model: str = "scripted-1"
    plan: str = "support"

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        """Answer one request, after it was written into the book."""
        who = llm_request.config.labels or {}
        book = Book()
        text, made = _since_the_last_message(llm_request)
        script = Turn(text).script
        earlier = book.earlier(who.get("user", ""), who.get("agent", ""), script)
        refused = sum(one.answer == TooMany.__name__ for one in earlier)
        turn = Turn(text, made, self.plan, refused, len(earlier), _remembered(llm_request))
        move = next_move(turn)
        names = {name: who.get(name, "") for name in ("user", "session", "invocation", "agent")}
        book.write(Request(**names, script=script, answer=type(move).__name__, streaming=stream))
        async for response in self._play(move, llm_request, stream):
            yield response

    async def _play(self, move: Move, request: LlmRequest, stream: bool) -> AsyncIterator[LlmResponse]:
        for piece in _pieces(move) if stream else []:
            yield LlmResponse(content=types.Content(role="model", parts=[piece]), partial=True)
        if isinstance(move, TooMany):
            async for response in refuse(request, delay_s=move.delay_s, stream=stream):
                yield response
        elif (parts := _parts(move)) is not None:
            yield self._final(parts)

    def _final(self, parts: list[types.Part]) -> LlmResponse:
        response = types.GenerateContentResponse(
            candidates=[
                types.Candidate(
                    content=types.Content(role="model", parts=parts), finish_reason=types.FinishReason.STOP
                )
            ],
            usage_metadata=USAGE,
            model_version=self.model,
        )
        return LlmResponse.create(response)


def _parts(move: Move) -> list[types.Part] | None:
    """What the model answers in the end; None where it does not answer."""
    match move:
        case Calls(calls):
            return [_called(call) for call in calls]
        case Say(text):
            return [types.Part(text=text)]
        case Nothing(_, thought) if thought:
            return [types.Part(text=thought, thought=True)]
        case Nothing(stop) if stop:
            return []
    return None


def _pieces(move: Move) -> list[types.Part]:
    """What a streaming client sees before that: a text word by word, a call first without its arguments."""
    match move:
        case Calls([call], in_parts) if in_parts:
            return [_begun(call), _called(call)]
        case Say(text):
            return [types.Part(text=f"{word} ") for word in text.split()]
        case TooMany(_, begun) if begun:
            return [_begun(begun)]
    return []


def _called(call: Call) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=call.name, args=dict(call.args)))


def _begun(call: Call) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=call.name, args={}))


def _since_the_last_message(request: LlmRequest) -> tuple[str, list[str]]:
    """The user's last message, and the names of what was called since."""
    text, made = "", []
    for content in request.contents:
        for part in content.parts or []:
            if part.function_call and not part.function_call.name.startswith("adk_"):
                made.append(part.function_call.name)
            elif content.role == "user" and part.text and MEMORY_MARK not in part.text:
                if any(piece.text == OF_OTHER_AGENTS for piece in content.parts):
                    continue
                text, made = part.text, []
    return text, made


def _remembered(request: LlmRequest) -> str:
    """The user's latest message in the memories that ADK put into the request; empty where there are none."""
    texts = [part.text or "" for content in request.contents for part in content.parts or []]
    instruction = request.config.system_instruction
    texts.append(instruction if isinstance(instruction, str) else "")
    lines = [
        line.removeprefix("user: ")
        for text in texts
        if MEMORY_MARK in text
        for line in text.partition(MEMORY_MARK)[2].partition(MEMORY_END)[0].splitlines()
        if line.startswith("user: ")
    ]
    return lines[-1] if lines else ""
