"""The connector for Google ADK against servers that answer, drip, break and pretend."""
