"""The tasks and the dispatcher."""
