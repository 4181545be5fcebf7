"""The support agent, each of whose e-mails a person has to confirm."""

from google.adk.tools import FunctionTool
from reference.inside.agents import support
from reference.inside.tools import send_email

root_agent = support("support_confirm", mailer=FunctionTool(send_email, require_confirmation=True))
