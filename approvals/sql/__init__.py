"""Plain SQL: keys, triggers, functions, policies and grants. Each NNNN_name.up.sql is loaded by the migration of that name."""
