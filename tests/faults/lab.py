"""What the fault tests share: a workspace, workers that can be killed, the clock's sweep, and what to count."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction

from approvals.access.actors import Actor
from approvals.db.binding import bind
from approvals.models import (
    AudienceRow,
    Campaign,
    Decision,
    Delivery,
    Event,
    Job,
    Member,
    Run,
    Runtime,
    User,
    Version,
    Workspace,
)
from approvals.rules import decisions as kinds
from approvals.rules.shown import Shown
from approvals.selectors.lineages import judged
from approvals.services import campaigns, payloads, replays, secrets, sweep, trials

ADA = Actor("member", "1", "Ada", ("support", "reviewer"), "password")
LEASE_S = 2
SECRET = "whsec_" + "c2Vjb25kbG9vayBzZWNvbmRsb29rIHNlY29uZGxvb2s="


def eventually(holds: Callable[[], object], what: str, seconds: float = 40) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.1)


def is_frozen(pid: int) -> bool:
    """Whether a process was stopped by SIGSTOP."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@dataclass
class Lab:
    """One workspace on the test's own database, and processes of ours that work on it."""

    env: dict[str, str]
    base_url: str = "http://127.0.0.1:9"
    kind: str = "http"  # of its runtime
    silence_s: int = 600
    workspace_id: UUID = field(default_factory=uuid4)
    said: str = ""  # by the process that was woken last, on its standard error

    def __post_init__(self) -> None:
        self.env = {
            **self.env,
            "FAULTS_ALLOWED": "1",
            "LEASE_S": str(LEASE_S),
            "FIELD_KEY": settings.FIELD_KEY,
            "SEND_CONNECTIONS": "1",  # so that it is known whose message is under way
        }
        with bind(self.workspace_id), transaction.atomic():
            Workspace.objects.create(
                id=self.workspace_id, slug=f"w{self.workspace_id.hex[:8]}", name="W", hold_s=0
            )
            self.runtime = Runtime.objects.create(
                workspace_id=self.workspace_id, name="r", kind=self.kind, base_url=self.base_url,
                silence_s=self.silence_s, writes_ahead=True, signing_secret=secrets.seal(SECRET),
                database_url=secrets.seal("postgresql://127.0.0.1:9/agents") if self.kind == "adk" else b"",
            )  # fmt: skip

    def work(self, job: Job, *, fault: str = "", **env: str) -> int:
        """Run one worker process for this job; its exit code (-9 when it was killed at the fault point)."""
        return self._run(self._task(job), FAULT_AT=fault, **env)

    def decide_in_a_process(self, about: Run | Campaign, *, fault: str) -> int:
        """Ada's forced replay or approval in a process that dies at the fault point; its exit code."""
        return self._run(self._deciding(about), FAULT_AT=fault)

    @contextmanager
    def frozen_work(self, job: Job, *, at: str) -> Iterator[subprocess.Popen[str]]:
        """A worker process for this job that froze at a fault point; `wake` lets it go on."""
        with self._frozen(self._task(job), at, LEASE_S=str(LEASE_S)) as process:
            yield process

    @contextmanager
    def frozen_decision(self, about: Run | Campaign, *, at: str) -> Iterator[subprocess.Popen[str]]:
        """A process that froze at a fault point while Ada decided."""
        with self._frozen(self._deciding(about), at) as process:
            yield process

    def wake(self, frozen: subprocess.Popen[str]) -> int:
        """Let a frozen process go on to its end; its exit code."""
        frozen.send_signal(signal.SIGCONT)
        self.said = frozen.communicate(timeout=60)[1]
        return frozen.returncode

    def _run(self, words: Sequence[str], **env: str) -> int:
        done = subprocess.run(
            [sys.executable, *words], env={**self.env, **env}, cwd=settings.BASE_DIR, timeout=60, check=False,
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        return done.returncode

    @contextmanager
    def _frozen(self, words: Sequence[str], at: str, **env: str) -> Iterator[subprocess.Popen[str]]:
        with subprocess.Popen(
            [sys.executable, *words], env={**self.env, "FAULT_AT": at, "FAULT_HOW": "stop", **env},
            cwd=settings.BASE_DIR, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            try:
                frozen = lambda: process.poll() is not None or is_frozen(process.pid)  # noqa: E731
                eventually(frozen, f"it froze at {at}")
                assert process.returncode is None, f"it never came to {at}"
                yield process
            finally:
                process.kill()

    def _task(self, job: Job) -> list[str]:
        return ["-m", "tests.faults.worker", job.kind, str(job.id), str(self.workspace_id)]

    def _deciding(self, about: Run | Campaign) -> list[str]:
        program = (
            "import django, uuid; django.setup()\n"
            f"from approvals.models import {type(about).__name__} as Model\n"
            "from tests.faults.lab import Lab\n"
            f"lab = Lab.__new__(Lab); lab.workspace_id = uuid.UUID('{self.workspace_id}')\n"
            f"lab.decides(lab.read(lambda: Model.objects.get(id='{about.id}')))\n"
        )
        return ["-c", program]

    def decides(self, about: Run | Campaign) -> Decision:
        """Ada lets this happen."""
        return self.forced(about).decision if isinstance(about, Run) else self.approved(about)

    def pass_lease(self) -> None:
        """Let every lease run out, and the clock act on it."""
        time.sleep(LEASE_S + 0.2)
        self.sweep()

    def sweep(self) -> None:
        """Everything that is due, but for waking workers."""
        for item in sweep.due(at_most=100):
            if item.what != "wake":
                sweep.step(item)

    def work_until_quiet(self) -> None:
        """Do what a dispatcher and healthy workers do, until nothing is due."""
        for _ in range(20):
            self.sweep()
            wakes = [item for item in sweep.due(at_most=100) if item.what == "wake"]
            if not wakes:
                return
            for item in wakes:
                self.work(self.read(lambda id=item.id: Job.objects.get(id=id)))
        raise AssertionError("it never became quiet")

    def read(self, query: Callable[[], Any]) -> Any:
        """The result of a query within this workspace."""
        with bind(self.workspace_id), transaction.atomic():
            return query()

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Every row that the life of a job changes."""
        return {
            model.__name__: self.read(lambda model=model: list(model.objects.order_by("pk").values()))
            for model in (Job, Run, Campaign, Delivery)
        }

    def releases(self) -> int:
        """How many decisions there are that let something happen outside."""
        return self.read(Decision.objects.filter(kind__in=kinds.RELEASING).count)

    def dead_run(self, external_id: str = "run-1") -> Run:
        """A run that was interrupted after a call whose outcome nobody knows."""
        with bind(self.workspace_id), transaction.atomic():
            message = {"role": "user", "parts": [{"text": "refund C-17"}]}
            stored, run_id = payloads.store({"input": {"message": message}}), uuid4()
            run = Run.objects.create(
                id=run_id, workspace_id=self.workspace_id, runtime=self.runtime, external_id=external_id,
                agent="refunds", subject="C-17", session_id="s-1", input_payload_id=stored.id, input_hash=stored.hash,
                body_digest="", lineage_id=run_id,
            )  # fmt: skip
            self.event(run, 1, "tool_call", call_id="c1", name="send_email")
            Run.objects.filter(id=run.id).update(status="interrupted", interrupted_at=datetime.now(UTC))
        return run

    def event(self, run: Run, seq: int, type: str, **columns: Any) -> None:
        """One event of a run's journal."""
        with bind(self.workspace_id), transaction.atomic():
            Event.objects.create(
                workspace_id=self.workspace_id, run=run, seq=seq, type=type, at=datetime.now(UTC), **columns
            )

    def shown(self, run: Run) -> Shown:
        """What the run's page shows now."""
        facts, _, digest = self.read(lambda: judged(run))
        return Shown(digest, datetime.now(UTC), kinds.told(facts))

    def shown_campaign(self) -> Shown:
        """What the campaign's page shows now."""
        return Shown("d" * 64, datetime.now(UTC), {})

    def forced(self, run: Run) -> replays.Started:
        """Ada's forced replay of a run."""
        shown = self.shown(run)
        with bind(self.workspace_id):
            return replays.force(
                by=ADA,
                run_id=run.id,
                shown=shown,
                reason="the customer got no answer",
                ticked={kinds.call_key(str(run.id), "c1")},
                unknown_ticked=True,
            )

    def approved_campaign(self, recipients: int, external_id: str = "c-1") -> Campaign:
        """A sealed campaign for so many recipients, approved by Ada."""
        campaign = self.pending_campaign(recipients, external_id)
        self.approved(campaign)
        return campaign

    def approved(self, campaign: Campaign) -> Decision:
        """Ada's approval of a campaign."""
        with bind(self.workspace_id):
            return campaigns.approve(by=ADA, campaign_id=campaign.id, shown=self.shown_campaign())[0]

    def asked_for_a_test(self, campaign: Campaign) -> Job:
        """The job of a test of the message to its first recipient, which goes to Tess, a reviewer."""
        tess = User.objects.filter(email="tess@example.com").first()
        with bind(self.workspace_id):
            if tess is None:
                tess = User.objects.create_user("tess@example.com", name="Tess")
                with transaction.atomic():
                    Member.objects.create(workspace_id=self.workspace_id, user=tess, roles=["reviewer"])
            first = self.read(lambda: Delivery.objects.get(campaign=campaign, position=1))
            by = Actor("member", str(tess.pk), "Tess", ("reviewer",), "password")
            decision, _ = trials.send_test(by=by, delivery_id=first.id, shown=self.shown_campaign())
        return self.read(lambda: Job.objects.get(decision=decision))

    def pending_campaign(self, recipients: int, external_id: str = "c-1") -> Campaign:
        """A sealed campaign for so many recipients, which waits for a decision."""
        with bind(self.workspace_id), transaction.atomic():
            campaign = Campaign.objects.create(
                workspace_id=self.workspace_id, runtime=self.runtime, external_id=external_id, agent="news",
                name="News",
            )  # fmt: skip
            version = Version.objects.create(
                workspace_id=self.workspace_id, campaign=campaign, number=1,
                from_address="News <news@news.example.com>",
                subject_line="Hello {{ name }}", text="Dear {{ name }}",
            )  # fmt: skip
            addresses = [f"p{position}@example.com" for position in range(1, recipients + 1)]
            rows = AudienceRow.objects.bulk_create(
                AudienceRow(
                    workspace_id=self.workspace_id, version=version, position=position, email=address,
                    address=address, vars='{"name":"P"}', state="addressable",
                )
                for position, address in enumerate(addresses, start=1)
            )  # fmt: skip
            ids = [uuid4() for _ in rows]
            Delivery.objects.bulk_create(
                Delivery(
                    id=id, workspace_id=self.workspace_id, campaign=campaign, version=version, audience_row=row,
                    position=row.position, address=row.address, dedupe_key=row.address,
                    message_id=f"<{id.hex}@news.example.com>",
                )
                for id, row in zip(ids, rows, strict=True)
            )  # fmt: skip
            Version.objects.filter(id=version.id).update(digest="d" * 64, sealed_at=datetime.now(UTC))
        return campaign
