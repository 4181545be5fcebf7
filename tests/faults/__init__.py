"""Processes that are killed at named points, and what is left behind."""
