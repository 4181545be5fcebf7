-- Row-level security, forced, with explicit policies for each role. No missing_ok: without a workspace a query
-- fails instead of showing nothing. The owner is named too: a definer function whose owner no policy names would
-- see zero rows and no error.

do $$ declare noun text; begin
  foreach noun in array array['member','runtime','token','payload','run','event','runtool','decision','job',
                              'campaign','version','audiencerow','delivery','queueitem'] loop
    execute format('alter table approvals_%s enable row level security', noun);
    execute format('alter table approvals_%s force row level security', noun);
    execute format($policy$
      create policy workspace on approvals_%s to @prefix@_owner, @prefix@_app, @prefix@_ingest
        using (workspace_id = (select current_setting('app.workspace_id')::uuid))
        with check (workspace_id = (select current_setting('app.workspace_id')::uuid))$policy$, noun);
  end loop;
end $$;
alter table approvals_workspace enable row level security;
alter table approvals_workspace force row level security;
create policy workspace on approvals_workspace to @prefix@_owner, @prefix@_app, @prefix@_ingest
  using (id = (select current_setting('app.workspace_id')::uuid))
  with check (id = (select current_setting('app.workspace_id')::uuid));

-- A token bound to one subject sees and feeds that subject's runs alone, on the child tables too: foreign keys look
-- past row-level security.
create policy subject on approvals_run as restrictive to @prefix@_app, @prefix@_ingest
  using ((select current_setting('app.subject')) in ('', subject))
  with check ((select current_setting('app.subject')) in ('', subject));
create policy subject on approvals_event as restrictive to @prefix@_app, @prefix@_ingest
  using ((select current_setting('app.subject')) = '' or exists (select from approvals_run r
         where r.workspace_id = approvals_event.workspace_id and r.id = approvals_event.run_id))
  with check ((select current_setting('app.subject')) = '' or exists (select from approvals_run r
         where r.workspace_id = approvals_event.workspace_id and r.id = approvals_event.run_id));

-- What agents write through can only report, and only make originals.
create policy reports_only on approvals_event as restrictive for insert to @prefix@_ingest
  with check (provenance = 'reported');
create policy originals_only on approvals_run as restrictive for insert to @prefix@_ingest
  with check (replay_of_id is null);
