"""Django keeps its migrations here; what they load stands in `approvals/sql`."""
