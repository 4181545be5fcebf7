"""The machine API at /api/v1: who asks, what a body may hold, and one view a call."""
