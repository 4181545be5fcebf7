"""The current workspace, and the Postgres backend that binds every transaction to it."""
