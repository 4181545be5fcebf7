"""Two agents, one after the other."""

from google.adk.agents import SequentialAgent
from reference.inside.agents import agent, remember
from reference.inside.tools import lookup_customer, send_email

root_agent = SequentialAgent(
    name="support_steps",
    sub_agents=[
        agent("finder", [lookup_customer], plan="lookup"),
        agent("writer", [send_email], plan="mail"),
    ],
    after_agent_callback=remember,
)
