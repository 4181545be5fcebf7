"""Files that come with the form of a proposal: kept at once, whatever else is wrong with the form, and listed in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db import transaction

from approvals.exceptions import Invalid, Refusal
from approvals.rules.attachments import (
    MB,
    MOST,
    MOST_BYTES,
    MOST_TOGETHER,
    Wanted,
    check_content_type,
    check_filename,
)
from approvals.selectors.attachments import sizes_for
from approvals.services import attachments
from dashboard.forms import attached as forms
from dashboard.forms.attached import Listed
from dashboard.middleware import PageRequest
from dashboard.presenters.text import plain

if TYPE_CHECKING:
    from approvals.access.actors import Actor

UNKNOWN_TYPE = "application/octet-stream"
GONE = "“{name}” is not kept here, so it cannot be attached. Choose the file once more."
TOO_BIG = "“{name}” is larger than {mb} MB. Make it smaller, or put it where a link in the text leads to."
MUCH_TOO_BIG = "What you chose is far too big to be attached, so no file was taken. Choose smaller ones."
TOO_MANY = "These are {number} files, and up to {most} can be attached. Take the tick off some."
TOO_HEAVY = "Together the files are larger than {mb} MB. Take the tick off some."


@dataclass(frozen=True, slots=True)
class Attaching:
    """What is attached as a form has it: `sizes` in bytes by SHA-256; `wrong` is a sentence for each trouble."""

    files: tuple[Listed, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    wrong: tuple[str, ...] = ()

    @property
    def wanted(self) -> list[Wanted]:
        """The files that are ticked."""
        return [one.wanted for one in self.files if one.ticked]

    @property
    def status(self) -> int:
        """How a form is answered that only attaches."""
        return 422 if self.wrong else 200


def listed(by: Actor, files: Sequence[Listed], wrong: Sequence[str] = ()) -> Attaching:
    """Files that are listed without any that come in; what is not kept here is told and left out."""
    with transaction.atomic():
        sizes = sizes_for(by, [one.wanted.sha256 for one in files])
    there = tuple(one for one in files if one.wanted.sha256 in sizes)
    gone = [one.wanted.filename for one in files if one.wanted.sha256 not in sizes]
    missing = [GONE.format(name=plain(name)) for name in gone]
    return Attaching(there, sizes, (*wrong, *missing, *_too_much(there, sizes)))


def taken(request: PageRequest) -> Attaching:
    """What the form lists and what comes in with it, which is kept by this. Never inside a transaction.

    Whoever may not propose has to be refused before.
    """
    files, wrong = [*forms.read(request.POST)], []
    for name in getattr(request, "too_big_to_attach", ()):
        wrong.append(TOO_BIG.format(name=plain(name), mb=MOST_BYTES // MB))
    if getattr(request, "upload_too_big", False):
        wrong.append(MUCH_TOO_BIG)
    for sent in request.FILES.getlist("files"):
        try:
            new = _keep(request.actor, sent)
        except Refusal as refusal:
            wrong.append(f"“{plain(sent.name or '')}”: {refusal.text}")
            continue
        files = [*(one for one in files if one.value != new.value), new]
    return listed(request.actor, files, wrong)


def _keep(by: Actor, sent: Any) -> Listed:
    """Keep one file that came in; Invalid where it cannot be attached under its name or as its type."""
    content_type = (sent.content_type or "").lower() or UNKNOWN_TYPE
    name = sent.name or ""
    if reason := check_filename(name) or check_content_type(content_type):
        raise Invalid("files", reason)
    kept, _ = attachments.keep(by=by, pieces=sent.chunks(), content_type=content_type)
    return Listed(Wanted(sha256=kept.sha256, filename=name, content_type=content_type))


def _too_much(files: Sequence[Listed], sizes: dict[str, int]) -> list[str]:
    ticked = [one.wanted.sha256 for one in files if one.ticked]
    if len(ticked) > MOST:
        return [TOO_MANY.format(number=len(ticked), most=MOST)]
    if sum(sizes[sha256] for sha256 in ticked) > MOST_TOGETHER:
        return [TOO_HEAVY.format(mb=MOST_TOGETHER // MB)]
    return []
