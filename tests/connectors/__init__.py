"""Connectors against real servers that lose, refuse and stall."""
