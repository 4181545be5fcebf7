"""Files that a campaign attaches: what is kept, and what a campaign says of each."""

from pydantic import BaseModel


class AttachmentKept(BaseModel):
    """A file that is kept, by the SHA-256 under which a campaign names it. `size` is in bytes."""

    sha256: str
    size: int
    content_type: str


class AttachmentOut(AttachmentKept):
    """A file that a campaign attaches."""

    filename: str
