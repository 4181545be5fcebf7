"""The tools of the reference agents. `send_email` really sends; what the others do is kept nowhere."""

import asyncio
from typing import Any

from google.adk.tools import ToolContext
from google.genai import types
from reference import mail


async def lookup_customer(customer_id: str) -> dict[str, Any]:
    """Look a customer up by their number."""
    return {"customer": customer_id, "email": f"{customer_id.lower()}@customers.example", "orders": 3}


async def send_email(
    to: str, subject: str, body: str, tool_context: ToolContext, pause_s: float = 0.0
) -> dict[str, Any]:
    """Send an e-mail; its text is kept as an artifact before it goes out. Pauses afterwards where asked to."""
    call_id = tool_context.function_call_id or "no-call"
    letter = mail.letter(to=to, subject=subject, body=body, call_id=call_id)
    kept = types.Part.from_bytes(data=letter.as_bytes(), mime_type="message/rfc822")
    await tool_context.save_artifact(f"{call_id}.eml", kept)
    await asyncio.to_thread(mail.send, letter)
    await asyncio.sleep(pause_s)
    return {"status": "sent", "to": to, "message_id": letter["Message-ID"]}


async def charge_card(customer_id: str) -> dict[str, Any]:
    """Charge the card of a customer, which never works."""
    await asyncio.sleep(0.3)  # so that a call beside it is under way
    raise RuntimeError(f"The card terminal does not answer for {customer_id}.")
