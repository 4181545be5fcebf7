"""Lists of recipients: how one is to be read, and what became of it."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, Field

from approvals.rules.fields import SHORT


class DatasetAsked(BaseModel):
    """How the file is to be read. What is left out is found out, or asked for by a refusal."""

    name: str = Field(min_length=1, max_length=SHORT, description="What people see; the file's name, say.")
    encoding: str = Field(
        "", max_length=20, description="utf-8 and utf-16 are found out; latin-1 and cp1252 have to be said."
    )
    address_column: str = Field(
        "", max_length=SHORT, description="The column with the addresses, where its name does not tell."
    )


class RowCounts(BaseModel):
    """What the rows are; `total` is known once they were counted. The four states add up to it at the end."""

    total: int | None
    addressable: int
    duplicate: int
    suppressed: int
    refused: int
    formulas: int


class DatasetOut(BaseModel):
    """A list, how it was read, and how far its import is. `trouble` says why it failed, or what it waits for."""

    id: UUID
    name: str
    status: Literal["waiting", "importing", "ready", "failed"]
    trouble: str
    sha256: str
    bytes: int
    encoding: str
    delimiter: str
    columns: list[str]
    address_column: str
    counts: RowCounts
    created_at: datetime
