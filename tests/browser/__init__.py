"""A person at a real browser, in front of the real product."""
