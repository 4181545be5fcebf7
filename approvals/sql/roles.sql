-- The roles of the database server, made by whoever administers it (a superuser, or a role with CREATEROLE).
-- Idempotent. @prefix@ stands for the setting ROLE_PREFIX: roles belong to the whole server, not to one database.
--
--   @prefix@_owner    owns every object, runs migrations, nothing else logs in as it
--   @prefix@_app      serves pages and workers
--   @prefix@_ingest   adds runs, events and calls, and can do nothing else
--   @prefix@_sweep    owns the few functions that look across workspaces to find what is due
--   @prefix@_search   owns the few functions that search text
--
-- Passwords are not set here:  alter role @prefix@_app password '...';

do $$
begin
  if not exists (select from pg_roles where rolname = '@prefix@_owner') then
    create role @prefix@_owner login noinherit;
  end if;
  if not exists (select from pg_roles where rolname = '@prefix@_app') then
    create role @prefix@_app login noinherit;
  end if;
  if not exists (select from pg_roles where rolname = '@prefix@_ingest') then
    create role @prefix@_ingest login noinherit;
  end if;
  if not exists (select from pg_roles where rolname = '@prefix@_sweep') then
    create role @prefix@_sweep nologin;
  end if;
  if not exists (select from pg_roles where rolname = '@prefix@_search') then
    create role @prefix@_search nologin;
  end if;
end
$$;

-- Before any GRANT: a row policy "to @prefix@_sweep" binds every role that inherits from it, so owner must not.
alter role @prefix@_owner noinherit;
alter role @prefix@_app noinherit;
alter role @prefix@_ingest noinherit;

-- Owner hands its functions over to them, for which it has to be their member. From Postgres 16 on the membership
-- itself says whether it inherits, and an older grant may say that it does.
do $$
begin
  if current_setting('server_version_num')::int >= 160000 then
    grant @prefix@_sweep, @prefix@_search to @prefix@_owner with inherit false, set true;
  else
    grant @prefix@_sweep, @prefix@_search to @prefix@_owner;
  end if;
end
$$;
