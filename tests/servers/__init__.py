"""Real servers for tests, on raw sockets, that misbehave exactly as a test's script says."""
