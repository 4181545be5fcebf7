"""A workspace with one of everything in it, made as app makes it."""

from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models.functions import Now

from approvals.access.actors import Actor, operator
from approvals.db.binding import bind, current_workspace
from approvals.models import (
    AgentSession,
    Attachment,
    AudienceRow,
    Callback,
    CalledCampaign,
    Campaign,
    Dataset,
    DatasetRow,
    Decision,
    Delivery,
    Event,
    Job,
    Observation,
    Run,
    Runtime,
    StoredRow,
    Suppression,
    Version,
    VersionAttachment,
)
from approvals.services import decisions, payloads, setup

OPERATOR = operator("a test")
ADA = Actor("member", "1", "Ada", ("support", "reviewer"), "password")


@dataclass(frozen=True)
class House:
    """The ids of its rows. `run` ended after one call and is settled; `open_run` runs, for another subject.

    `watched` is a runtime whose store is read, `session` and `row` what was seen there; `dataset` a list of recipients
    that is being imported, `suppression` somebody who is not to be written to; `attachment` a file of a person;
    `callback` news that wait for an hour; `called` is what `called_run` called to be proposed, and nobody has seen to.
    """

    workspace: UUID
    slug: str
    user: int
    member: UUID
    runtime: UUID
    token: UUID
    token_text: str
    run: UUID
    open_run: UUID
    payload: UUID
    dismissal: UUID
    campaign: UUID
    version: UUID
    audience: int
    delivery: UUID
    sent_campaign: UUID
    approval: UUID
    job: UUID
    watched: UUID
    observation: UUID
    session: int
    row: int
    dataset: UUID
    suppression: UUID
    called_run: UUID
    called: int
    attachment: UUID
    callback: UUID

    def named(self, prefix: str = "") -> dict[str, Any]:
        """Every id by its name, for statements."""
        return {prefix + field.name: getattr(self, field.name) for field in fields(self)}


def build(slug: str) -> House:
    """A new house, committed where no test's transaction is open."""
    workspace = setup.create_workspace(by=OPERATOR, name=slug.title())
    with bind(workspace.id), transaction.atomic():
        added = setup.add_member(by=OPERATOR, email=f"ann@{slug}.example", roles=["support", "admin"])
        runtime = setup.add_runtime(
            by=OPERATOR, name="desk", base_url="http://127.0.0.1:9", writes_ahead=True
        ).runtime
        token = setup.create_token(by=OPERATOR, runtime="desk")
        call = payloads.store({"args": {"to": "C-17"}})
        run = new_run(runtime.id, subject="customer-1")
        tell(
            run,
            Event(
                type="tool_call", call_id="c1", name="send_email", payload_id=call.id, payload_hash=call.hash
            ),
        )
        tell(run, Event(type="ended", outcome="failed"), seq=2)
        open_run = new_run(runtime.id, subject="customer-2")
        called_run, called = _called(runtime.id)
        campaign, version, audience, delivery = _campaign("spring")
        sent, sent_version, *_ = _campaign("winter")
        approval = uuid4()
        Campaign.objects.filter(id=sent.id).update(status="approved")
        job = Job.objects.create(
            workspace_id=workspace.id, decision_id=approval, kind="send", campaign_id=sent.id,
            version_id=sent_version.id, status="queued",
        )  # fmt: skip
        decided(
            id=approval,
            kind="approve",
            target_kind="campaign",
            target_id=sent.id,
            item_id=sent.id,
            digest="0" * 64,
        )
        watched, observation, session, row = _watched(slug)
        dataset, suppression = _lists()
        attachment = Attachment.objects.get().id
        callback = Callback.objects.create(
            workspace_id=workspace.id, campaign=sent, number=1, decision_id=approval, type="campaign.approved",
            body="{}", due_at=Now() + timedelta(hours=1),
        )  # fmt: skip
        dismissal = decided(kind="dismiss", target_kind="run", target_id=run.id, item_id=run.id)
    return House(
        workspace=workspace.id, slug=workspace.slug, user=added.user.id, member=added.member.id, runtime=runtime.id,
        token=token.token.id, token_text=token.text, run=run.id, open_run=open_run.id, payload=call.id,
        dismissal=dismissal.id, campaign=campaign.id, version=version.id, audience=audience.id, delivery=delivery.id,
        sent_campaign=sent.id, approval=approval, job=job.id,
        watched=watched, observation=observation, session=session, row=row,
        dataset=dataset, suppression=suppression, attachment=attachment, callback=callback.id, called_run=called_run,
        called=called,
    )  # fmt: skip


def new_run(runtime: UUID, *, subject: str = "customer-1", **fields: Any) -> Run:
    """A run in the bound workspace."""
    id = fields.pop("id", None) or uuid4()
    given = payloads.store({"input": "hello"})
    return Run.objects.create(
        **{
            "id": id, "lineage_id": id, "workspace_id": current_workspace(), "runtime_id": runtime,
            "external_id": str(id), "agent": "helper", "subject": subject, "input_payload_id": given.id,
            "input_hash": given.hash, "body_digest": "", **fields,
        }
    )  # fmt: skip


def tell(run: Run, event: Event, seq: int = 1) -> Event:
    """One more event of a run."""
    event.workspace_id, event.run_id, event.seq, event.at = run.workspace_id, run.id, seq, Now()
    event.save(force_insert=True)
    return event


def decided(*, by: Actor = ADA, **entry: Any) -> Decision:
    """An entry of the log, as the last write of its transaction."""
    return decisions.record(by=by, **{"evidence": {"reason": "because of a test"}, **entry})


def _called(runtime: UUID) -> tuple[UUID, int]:
    """A run that called a tool which is declared as a campaign."""
    Runtime.objects.filter(id=runtime).update(campaign_tools=["propose"])
    run = new_run(runtime, subject="guest-3")
    tell(run, Event(type="tool_call", call_id="c1", name="propose"))
    return run.id, CalledCampaign.objects.get().id


def _watched(slug: str) -> tuple[UUID, UUID, int, int]:
    """A runtime whose store is read, and will be looked at again in an hour."""
    runtime = setup.add_runtime(
        by=OPERATOR, name="store", kind="adk", base_url="http://127.0.0.1:9",
        database_url=f"postgresql://reader:secret@127.0.0.1:9/{slug}",
    ).runtime  # fmt: skip
    Observation.objects.update(due_at=Now() + timedelta(hours=1))
    session = AgentSession.objects.create(
        workspace_id=runtime.workspace_id, runtime=runtime, app="helper", user="customer-1", session="s1",
        updated_at=Now(),
    )  # fmt: skip
    row = StoredRow.objects.create(
        workspace_id=runtime.workspace_id, session=session, event_id="e1", invocation_id="i1", at=Now(),
        digest=bytes(32),
    )  # fmt: skip
    return runtime.id, Observation.objects.get().id, session.id, row.id


def _lists() -> tuple[UUID, UUID]:
    """A list of recipients with one row so far, which is gone on with in an hour, and one entry of the suppressed."""
    dataset = Dataset.objects.create(
        workspace_id=current_workspace(), name="list.csv", sha256="0" * 64, size=1, encoding="utf-8", delimiter=",",
        columns=[], address_column="email", by_name="Ada", due_at=Now() + timedelta(hours=1),
    )  # fmt: skip
    DatasetRow.objects.create(
        workspace_id=dataset.workspace_id, dataset_id=dataset.id, position=2, email="bo@x.example",
        address="bo@x.example", dedupe_key="bo@x.example", vars="{}", state="addressable", formula=False,
    )  # fmt: skip
    suppression = Suppression.objects.create(
        workspace_id=dataset.workspace_id, dedupe_key="gone@x.example", reason="by_hand"
    )
    return dataset.id, suppression.id


def _campaign(name: str) -> tuple[Campaign, Version, AudienceRow, Delivery]:
    workspace = current_workspace()
    campaign = Campaign.objects.create(workspace_id=workspace, external_id=name, agent="helper", name=name)
    version = Version.objects.create(
        workspace_id=workspace,
        campaign=campaign,
        number=1,
        from_address="us@shop.example",
        subject_line="Hi",
        text="Hi",
    )
    row = AudienceRow.objects.create(
        workspace_id=workspace, version=version, position=1, email="bo@x.example", address="bo@x.example",
        state="addressable",
    )  # fmt: skip
    delivery = Delivery.objects.create(
        workspace_id=workspace, campaign=campaign, version=version, audience_row=row, position=1,
        address="bo@x.example", dedupe_key="bo@x.example", message_id=f"<{uuid4()}@x.example>",
    )  # fmt: skip
    _attached(version)
    Version.objects.filter(id=version.id).update(digest="0" * 64, sealed_at=Now())
    return campaign, version, row, delivery


def _attached(version: Version) -> None:
    """A file that a person sent, attached to this version."""
    file, _ = Attachment.objects.get_or_create(
        workspace_id=version.workspace_id, runtime=None, sha256="a" * 64,
        defaults={"size": 1, "content_type": "text/plain", "looks_like": ""},
    )  # fmt: skip
    VersionAttachment.objects.create(
        workspace_id=version.workspace_id, version=version, position=1, attachment=file, filename="terms.txt",
        content_type="text/plain",
    )  # fmt: skip
