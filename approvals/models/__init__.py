"""The nouns, one a file. What must hold between them is in `sql/`."""

from approvals.models.attachment import Attachment, VersionAttachment
from approvals.models.beat import Beat
from approvals.models.callback import Callback
from approvals.models.called_campaign import CalledCampaign
from approvals.models.campaign import AudienceRow, Campaign, Version
from approvals.models.dataset import Dataset, DatasetRow
from approvals.models.decision import Decision
from approvals.models.delivery import Delivery
from approvals.models.event import Event, RunTool, ToolCall
from approvals.models.job import Job
from approvals.models.observation import AgentSession, Observation, StoredRow
from approvals.models.payload import Payload
from approvals.models.place import Place
from approvals.models.queue_item import QueueItem
from approvals.models.run import Run
from approvals.models.runtime import Runtime, Token
from approvals.models.suppression import Suppression
from approvals.models.user import User
from approvals.models.workspace import Member, Workspace

__all__ = [
    "AgentSession",
    "Attachment",
    "AudienceRow",
    "Beat",
    "Callback",
    "CalledCampaign",
    "Campaign",
    "Dataset",
    "DatasetRow",
    "Decision",
    "Delivery",
    "Event",
    "Job",
    "Member",
    "Observation",
    "Payload",
    "Place",
    "QueueItem",
    "Run",
    "RunTool",
    "Runtime",
    "StoredRow",
    "Suppression",
    "Token",
    "ToolCall",
    "User",
    "Version",
    "VersionAttachment",
    "Workspace",
]  # fmt: skip
