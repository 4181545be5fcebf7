-- One database, closed to everyone but the roles of roles.sql. Run in that database by whoever made it. Idempotent.
-- @prefix@ stands for the setting ROLE_PREFIX.

alter schema public owner to @prefix@_owner;
revoke all on schema public from public;
grant usage on schema public to @prefix@_app, @prefix@_ingest, @prefix@_sweep, @prefix@_search;

-- TEMP goes with it: a temporary table or function could stand in for a real one.
do $$
begin
  execute format('revoke all on database %I from public', current_database());
  execute format('grant connect on database %I to @prefix@_app, @prefix@_ingest', current_database());
end
$$;
