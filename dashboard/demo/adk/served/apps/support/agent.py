"""The plain support agent."""

from reference.inside.agents import support

root_agent = support("support")
