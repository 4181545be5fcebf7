"""The agents: one model, the same tools, and a memory that is fed at the end of a run and read by the next."""

from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from reference.inside.model import ScriptedModel, note_who_asks
from reference.inside.tools import charge_card, lookup_customer, send_email


async def remember(callback_context: CallbackContext) -> None:
    """An after-agent callback: the run that ends now goes into the memory."""
    await callback_context.add_session_to_memory()


def agent(name: str, tools: list[Any], *, plan: str = "support", **more: Any) -> LlmAgent:
    """An agent with the scripted model. It does not hand over to others, however it is put together."""
    return LlmAgent(
        name=name,
        description="Looks customers up and writes to them.",
        model=ScriptedModel(plan=plan),
        tools=tools,
        before_model_callback=note_who_asks,
        disallow_transfer_to_parent=True,
        disallow_transfer_to_peers=True,
        **more,
    )


def support(name: str, *, mailer: Any = send_email) -> LlmAgent:
    """The support agent, with whatever stands in for its `send_email`."""
    tools = [PreloadMemoryTool(), lookup_customer, mailer, charge_card]
    return agent(name, tools, after_agent_callback=remember)
