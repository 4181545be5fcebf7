"""The domain: runs, campaigns, decisions and the one execution that follows from each."""
