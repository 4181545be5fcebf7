"""Who allowed an effect: one plain answer from the decisions that led to it, or that there were none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from approvals.exceptions import DECIDED
from approvals.rules.decisions import RELEASING

# Why nobody allowed something; `{replay}` is the attempt that took the place of a run.
NOBODY: Mapping[str, str] = {
    "original": "Nobody: the runtime started this run by itself.",
    "supplied": "Nobody: this run did not call the tool. Only a result for it was supplied.",
    "late_replay": "Nobody: this call came late, after {replay} had begun as a replay of its run.",
    "late_interrupted": "Nobody: this call came late, after its run was interrupted.",
    "late_ended": "Nobody: this call came late, after its run had reported its end.",
    "late_never": "Nobody: this call was reported for a replay that was taken back or never handed over.",
    "late": "Nobody: this call came late, when its run counted as over.",
    "unknown": "Nobody: no decision that allowed this is in the log.",
}
# Calls that were only asked for, by their state.
NOT_MADE: Mapping[str, str] = {
    "awaiting": "Not made: it asks for a confirmation, and nobody has given one.",
    "rejected": "Not made: it asked for a confirmation and was rejected.",
    "withdrawn": "Not made: it asked for a confirmation, which is no longer waited for.",
}
NOT_THERE = "No message, run or call of this workspace has exactly this id or address."
SENT_BY_A_TOOL = "A message that an agent sent with a tool of its own goes by its run or its call."
# What is in the log and is no decision of a person about what there was.
_DONE: Mapping[str, str] = {**DECIDED, "new_version": "proposed the next version of this campaign"}
_RULE = "The rule allowed it, because it was certain that nothing had been done: {who}, on {on}."


@dataclass(frozen=True, slots=True)
class Step:
    """One decision on the way to an effect; `job` and `outcome` are of the execution that it released, if it did."""

    decision_id: UUID
    seq: int
    at: datetime
    kind: str
    actor_kind: str
    who: str
    roles: Sequence[str]
    job: str = ""
    outcome: str = ""

    @property
    def sentence(self) -> str:
        """Who decided what, and when."""
        if self.actor_kind == "rule":
            return _RULE.format(who=self.who, on=_spoken(self.at))
        roles = f" ({', '.join(self.roles)})" if self.roles else ""
        return f"{self.who}{roles} {_DONE.get(self.kind, 'decided this')} on {_spoken(self.at)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A delivery, a test of a message, a run or a call of a run, with the decisions that led to it, oldest first.

    `nobody` is a key of NOBODY where no decision allowed it; `not_done` says why it did not happen, where it did not.
    `replay` is the attempt that had begun before a late call; `seq` the number of a call's first event.
    """

    what: str
    id: UUID
    name: str
    state: str
    at: datetime | None
    item_id: UUID
    item: str
    agent: str
    subject: str = ""
    message_id: str = ""
    call_id: str = ""
    seq: int = 0
    steps: tuple[Step, ...] = ()
    nobody: str = ""
    not_done: str = ""
    replay: str = ""

    @property
    def allowed(self) -> bool:
        """Whether a decision or the rule let it happen."""
        if self.what == "call" and self.not_done:
            return False
        return not self.nobody and any(step.kind in RELEASING for step in self.steps)

    @property
    def answer(self) -> str:
        """The whole answer in plain sentences."""
        if self.what == "call" and self.not_done:
            return self.not_done
        said = [self.not_done] if self.not_done else []
        if self.nobody:
            said.append(NOBODY[self.nobody].format(replay=self.replay))
        if self.what == "call" and self.nobody.startswith("late"):
            said += _who_began(self.steps)
        elif self.what == "call" and self.nobody == "original":
            said.append("The agent made this call in it.")
        elif self.what == "call" and self.steps:
            said.append(f"The agent made this call in {self.item}.")
            said += [step.sentence for step in self.steps]
        elif not self.nobody:
            said += [step.sentence for step in self.steps]
        return " ".join(said)


def _who_began(steps: Sequence[Step]) -> list[str]:
    """Of a call that nobody allowed: who let its run begin, which did not mean this call."""
    if not steps:
        return ["The run itself was started by its runtime."]
    return ["How the run itself began:", *(step.sentence for step in steps)]


def _spoken(at: datetime) -> str:
    at = at.astimezone(UTC)
    return f"{at.day} {at:%B %Y at %H:%M} UTC"
