"""The connector for mail: a channel that sends one message at a time and says honestly what came of it."""

from approvals.connectors.smtp.channel import Channel
from approvals.connectors.smtp.message import Message, SmtpOutcome, SmtpSettings

__all__ = ["Channel", "Message", "SmtpOutcome", "SmtpSettings"]
