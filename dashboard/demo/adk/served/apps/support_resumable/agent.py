"""The support agent in an app that ADK may resume."""

from google.adk.apps import App, ResumabilityConfig
from reference.inside.agents import support

root_agent = support("support_resumable")
app = App(
    name="support_resumable",
    root_agent=root_agent,
    resumability_config=ResumabilityConfig(is_resumable=True),
)
