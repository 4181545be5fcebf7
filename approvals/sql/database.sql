-- One database, closed to everyone but the roles of roles.sql. Run in that database by whoever made it. Idempotent.
-- @prefix@ stands for the setting ROLE_PREFIX, @database@ for the database's name.

alter schema public owner to @prefix@_owner;
revoke all on schema public from public;
grant usage on schema public to @prefix@_app, @prefix@_ingest, @prefix@_sweep, @prefix@_search;

-- TEMP goes with it: a temporary table or function could stand in for a real one.
revoke all on database "@database@" from public;
grant connect on database "@database@" to @prefix@_app, @prefix@_ingest;
