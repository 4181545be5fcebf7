"""The same agent in an app that ADK may resume."""

from . import agent as agent
