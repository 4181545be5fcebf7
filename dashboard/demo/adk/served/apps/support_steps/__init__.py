"""Two agents one after the other: the first looks up, the second writes."""

from . import agent as agent
