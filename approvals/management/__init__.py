"""Commands of the domain."""
