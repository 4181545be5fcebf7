"""A plain agent that looks customers up and writes to them."""

from . import agent as agent
