"""The machine API."""
