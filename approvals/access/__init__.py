"""Who may see or do what: the only door to each object."""
