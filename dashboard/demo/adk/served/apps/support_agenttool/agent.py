"""An agent that has another one write: what that one calls never reaches the session's rows."""

from google.adk.tools.agent_tool import AgentTool
from reference.inside.agents import agent, remember
from reference.inside.tools import send_email

mailer = agent("mailer", [send_email], plan="mail")
root_agent = agent("support_agenttool", [AgentTool(mailer)], plan="manager", after_agent_callback=remember)
