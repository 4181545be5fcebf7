"""The domain: records, verdicts, decisions and their execution. No HTML."""
