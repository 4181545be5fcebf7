"""Plays a script as an agent would: each call is in the journal before its tool runs."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from dashboard.demo.api import Api, Journal, Rejected
from dashboard.demo.steps import Call, Die, Fail, KeepRunning, Lose, Say, Script
from dashboard.demo.tools import ToolFailed, Tools

HEARTBEAT_S = 4.0  # well within the silence after which the demo counts a run as dead


class Engine:
    """Plays scripts; one engine serves any number of threads."""

    def __init__(
        self,
        api: Api,
        tools: Tools,
        stop: threading.Event,
        *,
        pace_s: float,
        heartbeat_s: float,
        goes_on: Callable[[str, int], None],
    ) -> None:
        self._api = api
        self._tools = tools
        self._stop = stop
        self._pace_s = pace_s
        self._heartbeat_s = heartbeat_s
        self._goes_on = goes_on  # is told of a run with heartbeats, and the number of its last event

    def play(self, script: Script, journal: Journal, given: Mapping[str, Any]) -> None:
        """Play a script with the run's input to its end, its failure or its death.

        Raises Rejected when the API takes no more events of this run, Stopped when the runtime stops.
        """
        memory: dict[str, Any] = dict(given)
        for step in script:
            self._stop.wait(self._pace_s)
            if isinstance(step, Die):
                return
            if isinstance(step, KeepRunning):
                return self.keep_running(journal)
            if isinstance(step, Lose):
                journal.lose()
            elif isinstance(step, Say):
                journal.post("message", text=_filled(step.text, memory))
            elif isinstance(step, Fail):
                return journal.post("ended", outcome="failed", error=step.error)
            elif (error := self._call(step, journal, memory)) is not None:
                return journal.post("ended", outcome="failed", error=error)
        return journal.post("ended", outcome="completed")

    def keep_running(self, journal: Journal) -> None:
        """Send heartbeats as long as the product counts the run as running and the runtime lives."""
        while not self._stop.is_set():
            try:
                if not self._api.is_running(journal.run_id):
                    return
                journal.post("heartbeat")
            except Rejected as rejected:
                if rejected.status != 409:
                    raise
                # The number was used just before an earlier process was killed: this one was not told.
                journal.lose()
            self._goes_on(journal.run_id, journal.seq)
            self._stop.wait(self._heartbeat_s)

    def _call(self, step: Call, journal: Journal, memory: dict[str, Any]) -> str | None:
        """Make one call and remember its result; returns the error if it failed."""
        args = {name: _filled(value, memory) for name, value in step.args.items()}
        call_id = f"call-{journal.seq + 1}"
        journal.post("tool_call", call_id=call_id, name=step.tool, args=args)
        try:
            done = self._tools.use(step.tool, args, run_id=journal.run_id, call_id=call_id)
        except ToolFailed as failed:
            journal.post("tool_result", call_id=call_id, error=str(failed))
            return str(failed)
        receipt = {} if done.receipt is None else {"receipt": done.receipt}
        journal.post("tool_result", call_id=call_id, result=done.result, **receipt)
        memory.update(done.result)
        return None


def _filled(text: str, memory: Mapping[str, Any]) -> str:
    return text.format_map(_Known(memory))


class _Known(dict[str, Any]):
    """Leaves a name that nobody has given a value as it stands."""

    def __missing__(self, name: str) -> str:
        return "{" + name + "}"
