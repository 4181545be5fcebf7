"""Which files a form of a proposal has attached: listed one by one, each with a tick that somebody can take away.

A file is said by what it holds, so a form that comes back with something wrong needs none of them sent again.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from django.http import QueryDict

from approvals.rules.attachments import Attached, Wanted

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Listed:
    """One file in the list. `ticked`: it is to be attached."""

    wanted: Wanted
    ticked: bool = True

    @property
    def value(self) -> str:
        """As it stands in the form; the name in a spelling that no letter of it can disturb."""
        return f"{self.wanted.sha256} {self.wanted.content_type} {quote(self.wanted.filename)}"


def already(attached: Sequence[Attached]) -> tuple[Listed, ...]:
    """The files of a version, all of them ticked."""
    return tuple(
        Listed(Wanted(sha256=one.sha256, filename=one.filename, content_type=one.content_type))
        for one in attached
    )


def read(post: QueryDict) -> tuple[Listed, ...]:
    """What a form lists, in order and each once; what is no file of ours in it is left out."""
    ticked = set(post.getlist("attach"))
    found = []
    for value in dict.fromkeys((*post.getlist("listed"), *post.getlist("attach"))):
        sha256, _, rest = value.partition(" ")
        content_type, _, filename = rest.partition(" ")
        if filename and _SHA256.fullmatch(sha256):
            wanted = Wanted(sha256=sha256, filename=unquote(filename), content_type=content_type)
            found.append(Listed(wanted, value in ticked))
    return tuple(found)


def only_attaches(post: QueryDict) -> bool:
    """Whether the form was sent to attach files and go on writing, and not to propose."""
    return post.get("do") == "attach"
