-- The role that takes backups, made by a superuser, in the database that is to be backed up. Idempotent. It reads
-- everything: row-level security is forced on owner too, so that pg_dump as owner refuses.
-- Give it a password, keep that apart from the others, and let nothing but the backup use it:
--   alter role @prefix@_backup password '...';

do $$
begin
  if not exists (select from pg_roles where rolname = '@prefix@_backup') then
    create role @prefix@_backup login bypassrls;
  end if;
  execute format('grant connect on database %I to @prefix@_backup', current_database());
end
$$;
grant pg_read_all_data to @prefix@_backup;
