"""Files that a campaign attaches: what is sent, and what a campaign says of each."""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema

from approvals.api.fields import Body, wrong
from approvals.rules.attachments import (
    LONGEST_NAME,
    LONGEST_TYPE,
    Wanted,
    check_content_type,
    check_filename,
)

_SHA256 = re.compile(r"[0-9a-f]{64}")


def _sha256(text: str) -> str:
    if not _SHA256.fullmatch(text):
        raise wrong("sha256", "Write the SHA-256 of the file as 64 hexadecimal digits in small letters.")
    return text


def _filename(text: str) -> str:
    if reason := check_filename(text):
        raise wrong("filename", reason)
    return text


def _content_type(text: str) -> str:
    if reason := check_content_type(text):
        raise wrong("content_type", reason)
    return text


Sha256 = Annotated[
    str, AfterValidator(_sha256), WithJsonSchema({"type": "string", "pattern": "^[0-9a-f]{64}$"})
]
ContentType = Annotated[
    str,
    AfterValidator(_content_type),
    WithJsonSchema(
        {
            "type": "string",
            "maxLength": LONGEST_TYPE,
            "pattern": "^(?!message/|multipart/)[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*$",
            "examples": ["application/pdf"],
        }
    ),
]


class AttachmentIn(Body):
    """A file that was sent before, and how the mail names it."""

    sha256: Sha256
    filename: Annotated[str, AfterValidator(_filename)] = Field(
        min_length=1,
        max_length=LONGEST_NAME,
        description="Without folders, and without characters that cannot be seen.",
    )
    content_type: ContentType

    def wanted(self) -> Wanted:
        """As the service takes it."""
        return Wanted(sha256=self.sha256, filename=self.filename, content_type=self.content_type)


class AttachmentKept(BaseModel):
    """A file that is kept, by the SHA-256 under which a campaign names it. `size` is in bytes."""

    sha256: str
    size: int
    content_type: str


class AttachmentOut(AttachmentKept):
    """A file that a campaign attaches."""

    filename: str
