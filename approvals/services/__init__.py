"""Writes: keyword-only, atomic, always with who did it."""
