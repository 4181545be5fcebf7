"""The connector for mail: lines that send messages side by side, a channel for one at a time; both say honestly what
came of each."""

from approvals.connectors.smtp.channel import Channel
from approvals.connectors.smtp.lines import Lines
from approvals.connectors.smtp.message import Message, SmtpOutcome, SmtpSettings

__all__ = ["Channel", "Lines", "Message", "SmtpOutcome", "SmtpSettings"]
