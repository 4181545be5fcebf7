"""The same agent, whose e-mails wait for a confirmation."""

from . import agent as agent
