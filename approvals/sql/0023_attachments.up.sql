-- Files that campaigns attach, and what each version has attached: nothing of it ever changes.

-- A new key looks at both tables, and so under row-level security: of no workspace, where these have no rows yet.
select set_config('app.workspace_id', '00000000-0000-0000-0000-000000000000', true);
alter table approvals_attachment add constraint attachment_workspace_id unique (workspace_id, id);
alter table approvals_attachment add constraint attachment_runtime_same_workspace
  foreign key (workspace_id, runtime_id) references approvals_runtime (workspace_id, id);
alter table approvals_versionattachment add constraint versionattachment_version_same_workspace
  foreign key (workspace_id, version_id) references approvals_version (workspace_id, id);
alter table approvals_versionattachment add constraint versionattachment_file_same_workspace
  foreign key (workspace_id, attachment_id) references approvals_attachment (workspace_id, id);
do $$ declare noun text; begin
  foreach noun in array array['attachment','versionattachment'] loop
    execute format('alter table approvals_%s enable row level security', noun);
    execute format('alter table approvals_%s force row level security', noun);
    execute format($policy$
      create policy workspace on approvals_%s to @prefix@_owner, @prefix@_app, @prefix@_ingest
        using (workspace_id = (select current_setting('app.workspace_id')::uuid))
        with check (workspace_id = (select current_setting('app.workspace_id')::uuid))$policy$, noun);
    execute format('create trigger %1$s_append_only before update or delete on approvals_%1$s
      for each row execute function refuse_change()', noun);
  end loop;
end $$;

-- rules/attachments has the same limits; a test compares them.
alter table approvals_attachment add constraint attachment_sha256_is_hex check (sha256 ~ '^[0-9a-f]{64}$');
alter table approvals_attachment add constraint attachment_size_bounded check (size between 1 and 10485760);
alter table approvals_versionattachment add constraint versionattachment_few check (position between 1 and 10);
-- Nothing of a name or type may begin a header field of its own, name a folder, or turn how the name reads.
alter table approvals_versionattachment add constraint versionattachment_filename_is_a_name
  check (filename <> '' and char_length(filename) <= 150 and filename !~
    '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069/:\\]');
alter table approvals_versionattachment add constraint versionattachment_type_is_plain
  check (content_type ~ '^[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*$'
    and content_type !~ '^(message|multipart)/');

create trigger versionattachment_before_seal after insert on approvals_versionattachment referencing new table as added
  for each statement execute function refuse_rows_for_sealed();

-- A worker holds all files of a version at once, and a mail server takes no more.
create function refuse_heavy_attachments() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare given record;
begin
  for given in select distinct a.workspace_id, a.version_id from added a loop
    if (select sum(f.size) from public.approvals_versionattachment v
        join public.approvals_attachment f on f.workspace_id = v.workspace_id and f.id = v.attachment_id
        where v.workspace_id = given.workspace_id and v.version_id = given.version_id) > 15728640 then
      raise exception 'the files of version % are too big together', given.version_id
        using errcode = '23514', constraint = 'versionattachment_bounded';
    end if;
  end loop;
  return null;
end $$;
create trigger versionattachment_bounded after insert on approvals_versionattachment referencing new table as added
  for each statement execute function refuse_heavy_attachments();
