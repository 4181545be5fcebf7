"""`manage.py why`: who allowed a message, a run or a call."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from approvals.management.operator import OperatorCommand, add_workspace_argument, in_workspace, spoken_errors
from approvals.rules.authority import NOT_THERE, SENT_BY_A_TOOL, Effect
from approvals.selectors.authority import effects_of

AT_MOST = 50
_WHAT = {"delivery": "mail to", "test": "test to", "run": "run", "call": "call of"}


class Command(OperatorCommand):
    """From an effect back to the decision, or the rule, that allowed it."""

    help = "Say who allowed a message, a run or a call."

    def add_arguments(self, parser: CommandParser) -> None:
        """The workspace, and what is asked about."""
        super().add_arguments(parser)
        add_workspace_argument(parser)
        parser.add_argument(
            "query",
            metavar="QUERY",
            help="a Message-ID, an address, the id of a delivery, a run (its external id too) or a call, or"
            " 'RUN CALL' in quotes",
        )

    def handle(self, *, workspace: str, query: str, **_: Any) -> None:
        """Print each thing that goes by this, with its answer below."""
        with spoken_errors(), in_workspace(workspace), transaction.atomic():
            found = effects_of(query, at_most=AT_MOST)
        if not found.effects:
            raise CommandError(f"{NOT_THERE} {SENT_BY_A_TOOL}")
        for effect in found.effects:
            self.say(_printable(_title(effect)))
            self.say(f"    {_printable(effect.answer)}")
            if effect.steps:
                self.say(f"    Entries of the log: {', '.join(str(step.seq) for step in effect.steps)}")
        if found.more:
            self.say(f"There are more than these {AT_MOST}; ask for a Message-ID, a run or a call.")


def _title(effect: Effect) -> str:
    at = f"  {effect.at:%Y-%m-%d %H:%M:%S} UTC" if effect.at else ""
    of = f"  ({effect.item})" if effect.what != "run" else ""
    mark = f"  {effect.message_id or effect.call_id}" if effect.what != "run" else ""
    return f"{_WHAT[effect.what]} {effect.name}{of}  {effect.state.replace('_', ' ')}{at}{mark}"


def _printable(text: str) -> str:
    """What agents wrote moves no cursor."""
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in text)
