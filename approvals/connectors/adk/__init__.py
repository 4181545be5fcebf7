"""The connector for Google ADK: it reads a service's own sessions, and starts runs there."""
