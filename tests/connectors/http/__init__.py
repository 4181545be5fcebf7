"""The connector for runtimes over HTTP."""
