"""The campaigns of `bench send`: sealed with any number of recipients by the database itself, approved by a person."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import LiteralString
from uuid import UUID, uuid4

from django.db import transaction

from approvals.connectors.smtp import Message
from approvals.db.binding import bind
from approvals.models import Job, Version
from approvals.rules.shown import Shown
from approvals.selectors.attachments import content_of
from approvals.services import campaigns, jobs, rounds, sending
from approvals.tasks import batch, send
from dashboard.bench import house
from dashboard.bench.servers import Servers
from dashboard.embedded.trouble import Trouble

SENDER = "Northwind Travel <hello@northwind.example.com>"
TEXT = "Dear {{ name }},\n\nyour departure moved: you leave at {{ time }}.\n\nYours,\nNorthwind Travel\n" * 3
HTML = "<p>Dear {{ name }},</p><p>your departure moved: you leave at <b>{{ time }}</b>.</p>\n" * 3
DIGEST = "d" * 64

_CAMPAIGN: LiteralString = """
  insert into approvals_campaign (id, workspace_id, runtime_id, external_id, agent, name, purpose, status,
    comment)
  values (%(campaign)s, %(w)s, %(runtime)s, %(campaign)s::text, 'outreach-writer', 'Departures', '', 'pending', '')
"""
_VERSION: LiteralString = """
  insert into approvals_version (id, workspace_id, campaign_id, number, from_address, reply_to, subject_line, text,
    html, digest, sealed_at)
  values (%(version)s, %(w)s, %(campaign)s, 1, %(sender)s, '', '{{ name }}, your departure moved', %(text)s, %(html)s,
    %(digest)s, now())
"""
_AUDIENCE: LiteralString = """
  insert into approvals_audiencerow (workspace_id, version_id, position, email, address, vars, state, reason)
  select %(w)s, %(version)s, n, 'guest' || n || '@example.org', 'guest' || n || '@example.org',
    '{"name":"Guest ' || n || '","time":"12:00"}', 'addressable', ''
  from generate_series(1, %(recipients)s) n
"""
_DELIVERIES: LiteralString = """
  insert into approvals_delivery (id, workspace_id, campaign_id, version_id, audience_row_id, position, address,
    dedupe_key, message_id, state, attempt, reply)
  select md5(a.id || ' delivery')::uuid, a.workspace_id, %(campaign)s, a.version_id, a.id, a.position, a.address,
    a.address, '<' || md5(a.id || ' delivery') || '@northwind.example.com>', 'planned', 0, ''
  from approvals_audiencerow a where a.version_id = %(version)s
"""
_ITEM: LiteralString = """
  insert into approvals_queueitem (id, workspace_id, kind, tab, state, agent, subject, title, since, due)
  values (%(campaign)s, %(w)s, 'campaign', 'decide', 'pending', 'outreach-writer', '', 'Departures', now(), 'infinity')
"""


@dataclass(frozen=True, slots=True)
class Mailing:
    """One approved campaign and the job that sends it."""

    workspace_id: UUID
    job_id: UUID

    def send_all(self) -> None:
        """Wake the task until the campaign is over, as a dispatcher does; Trouble where it does not go on."""
        while True:
            send.execute.apply(
                args=[str(self.job_id)], kwargs={"workspace": str(self.workspace_id)}, throw=True
            )
            with bind(self.workspace_id), transaction.atomic():
                job = Job.objects.get(id=self.job_id)
            if job.status == "done":
                return
            if job.status != "queued" or job.outcome:
                raise Trouble(f"The sending stopped: {job.status}. {job.outcome}")


def approved(running: Servers, made: house.House, recipients: int) -> Mailing:
    """A campaign for so many recipients, which its worker may begin with. What triggers would check is true of it."""
    campaign_id = uuid4()
    values = {
        "w": made.workspace_id, "runtime": made.runtime_id, "campaign": campaign_id, "version": uuid4(),
        "sender": SENDER, "text": TEXT, "html": HTML, "digest": DIGEST, "recipients": recipients,
    }  # fmt: skip
    with running.superuser() as connection:
        connection.execute("set session_replication_role = replica")
        for statement in (_CAMPAIGN, _VERSION, _AUDIENCE, _DELIVERIES, _ITEM):
            connection.execute(statement, values)
        connection.execute("reset session_replication_role")
        connection.execute("vacuum (analyze) approvals_delivery, approvals_audiencerow")
        connection.execute("checkpoint")
    with bind(made.workspace_id):
        campaigns.approve(
            by=house.PERSON, campaign_id=campaign_id, shown=Shown(DIGEST, datetime.now(UTC), {})
        )
        with transaction.atomic():
            return Mailing(made.workspace_id, Job.objects.get(campaign_id=campaign_id).id)


def prebuilt(mailing: Mailing) -> list[tuple[str, str, bytes]]:
    """(sender, recipient, message) of everybody in it, as the worker builds them; nobody is sent anything."""
    with bind(mailing.workspace_id), transaction.atomic():
        job = Job.objects.select_related("campaign").get(id=mailing.job_id)
        if job.campaign is None:
            raise ValueError("a job that sends nothing")
        version = Version.objects.get(campaign_id=job.campaign.id)
        held = jobs.Claim(job.id, job.fence, job.kind, None, job.campaign.id, job.version_id, None)
        sealed = sending.Sealed(version.id, version.digest, content_of(version))
        everybody = job.campaign.deliveries.count()
        planned = rounds.upcoming(held=held, sealed=sealed, after=-1, at_most=everybody)
    messages = [batch.message_for(sealed.content, one) for one in planned]
    return [(one.envelope_from, one.to, one.raw) for one in messages if isinstance(one, Message)]
