"""Filling the forms of a page: where they go, what they were shown, who may send them, and what was sent before."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.safestring import SafeString

from approvals.access.actors import Actor
from approvals.rules.permissions import why_not
from dashboard.forms.tried import Tried
from dashboard.presenters.acts import Act, ReasonAct, ResolveAct
from dashboard.presenters.parts import Choice

OUTCOMES = {
    "happened": ("It happened", "It is taken as done and is not done again."),
    "did_not_happen": ("It did not happen", "Whoever decides next will see that."),
    "do_again": ("It did not happen; do it again", "It is done once more, and once only."),
    "leave": ("Leave it", "Nobody can tell; nothing more is done."),
}


@dataclass(frozen=True, slots=True)
class Hand:
    """Who looks at a page of the workspace `slug`, where its forms lead back to, and what was last sent."""

    actor: Actor
    slug: str
    next: str
    tried: Tried

    def refused(self, permission: str) -> str:
        """Why this member may not; empty where they may."""
        return "" if self.actor.may(permission) else why_not(permission)

    def act(self, name: str, target: object, *, permission: str, shown: str) -> Act:
        """A button that sends to the address called `name`."""
        sent = self.tried.of(name, "")
        return Act(
            action=self._to(name, target),
            shown=shown,
            next=self.next,
            refused=self.refused(permission),
            error=sent.error,
        )

    def reason_act(
        self, name: str, target: object, *, permission: str, shown: str, part: str = ""
    ) -> ReasonAct:
        """The same with a reason (or comment); `part` tells several on one page apart."""
        sent = self.tried.of(name, part)
        return ReasonAct(
            action=self._to(name, target),
            shown=shown,
            next=self.next,
            refused=self.refused(permission),
            reason=sent.reason,
            reason_error=sent.error_at("reason", "comment"),
        )

    def resolve_act(
        self,
        name: str,
        target: object,
        *,
        permission: str,
        shown: str,
        about: SafeString,
        choices: Sequence[str],
        part: str = "",
        settled: bool = False,
    ) -> ResolveAct:
        """What became of something; `part` tells several on one page apart, `settled` where there is an answer."""
        sent = self.tried.of(name, part)
        return ResolveAct(
            action=self._to(name, target),
            shown=shown,
            next=self.next,
            refused=self.refused(permission),
            reason=sent.reason,
            reason_error=sent.error_at("reason"),
            target=part,
            about=about,
            choices=outcomes(choices, sent.resolution),
            resolution_error=sent.error_at("resolution"),
            open=not settled or bool(sent.error),
        )

    def _to(self, name: str, target: object) -> str:
        return reverse(name, args=[self.slug, target])


def outcomes(values: Sequence[str], chosen: str) -> tuple[Choice, ...]:
    """The answers that can be given."""
    return tuple(
        Choice(value, OUTCOMES[value][0], value == chosen, hint=OUTCOMES[value][1]) for value in values
    )
