"""Rows and streams of real agent runs (Google ADK 2.13, a scripted model), as `db_NAME.jsonl` and `sse_NAME.txt`."""
