"""Run by the environment's own Python: rewinds one session, given app, user, session and invocation."""

import asyncio
import importlib
import os
import sys

from google.adk.runners import Runner
from google.adk.sessions import DatabaseSessionService


async def rewind(app: str, user: str, session: str, invocation: str) -> None:
    url = os.environ["URL"].replace("postgresql://", "postgresql+asyncpg://")
    agent = importlib.import_module(f"{app}.agent").root_agent
    runner = Runner(app_name=app, agent=agent, session_service=DatabaseSessionService(url))
    await runner.rewind_async(user_id=user, session_id=session, rewind_before_invocation_id=invocation)


asyncio.run(rewind(*sys.argv[1:]))
