"""Memory in Postgres: what was said in a run, a row each, for its agent and user alone."""

import asyncpg
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai import types

LATEST = 20
TABLE = """
create table if not exists agent_memory (
    app_name text not null,
    user_id text not null,
    event_id text not null,
    session_id text not null,
    author text not null,
    said text not null,
    said_at timestamptz not null,
    primary key (app_name, user_id, event_id)
)"""
LOCK = 7_263_104  # any number that nobody else uses; two services may meet a new database at once


class PostgresMemoryService(BaseMemoryService):
    """Rows of `agent_memory` in the database of a URL; the table is made on first use."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._is_ready = False

    async def add_session_to_memory(self, session: Session) -> None:
        """Add what was said in a session; what is there already stays as it is."""
        rows = [
            (session.app_name, session.user_id, event.id, session.id, event.author, said, event.timestamp)
            for event in session.events
            if (said := _text(event.content))
        ]
        connection = await self._connect()
        try:
            await connection.executemany(
                "insert into agent_memory values ($1, $2, $3, $4, $5, $6, to_timestamp($7)) on conflict do nothing",
                rows,
            )
        finally:
            await connection.close()

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """The latest of what was said to and by this user, oldest first; the question does not matter."""
        connection = await self._connect()
        try:
            rows = await connection.fetch(
                "select event_id, author, said, said_at from agent_memory"
                " where app_name = $1 and user_id = $2 order by said_at desc limit $3",
                *(app_name, user_id, LATEST),
            )
        finally:
            await connection.close()
        return SearchMemoryResponse(memories=[_entry(row) for row in reversed(rows)])

    async def _connect(self) -> asyncpg.Connection:
        connection = await asyncpg.connect(self._url)
        if not self._is_ready:
            async with connection.transaction():
                await connection.execute("select pg_advisory_xact_lock($1)", LOCK)
                await connection.execute(TABLE)
            self._is_ready = True
        return connection


def _text(content: types.Content | None) -> str:
    parts = content.parts or [] if content else []
    return " ".join(part.text for part in parts if part.text and not part.thought).replace("\n", " ")


def _entry(row: asyncpg.Record) -> MemoryEntry:
    role = "user" if row["author"] == "user" else "model"
    content = types.Content(role=role, parts=[types.Part(text=row["said"])])
    return MemoryEntry(
        content=content, author=row["author"], timestamp=row["said_at"].isoformat(), id=row["event_id"]
    )
