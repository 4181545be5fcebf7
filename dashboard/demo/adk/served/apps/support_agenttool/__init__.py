"""An agent that leaves the writing to another agent, as a tool."""

from . import agent as agent
