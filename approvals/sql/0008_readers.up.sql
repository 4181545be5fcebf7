-- What must look across workspaces, and the searches: narrow functions owned by roles that cannot log in and may
-- read only the columns named here. No BYPASSRLS: a policy lets these roles see the rows.

create policy sweep on approvals_workspace for select to @prefix@_sweep using (true);
create policy sweep on approvals_member for select to @prefix@_sweep using (true);
create policy sweep on approvals_token for select to @prefix@_sweep using (true);
create policy sweep on approvals_job for select to @prefix@_sweep using (true);
create policy sweep on approvals_run for select to @prefix@_sweep using (true);
create policy search on approvals_run for select to @prefix@_search using (true);
create policy search on approvals_campaign for select to @prefix@_search using (true);
create policy search on approvals_delivery for select to @prefix@_search using (true);

create function token_of(of_digest bytea)
returns table (workspace_id uuid, token_id uuid, runtime_id uuid, subject text, hint text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select t.workspace_id, t.id, t.runtime_id, t.subject, t.hint from public.approvals_token t
  where t.digest = of_digest and t.revoked_at is null
$$;

create function workspaces_of(of_user bigint)
returns table (workspace_id uuid, slug text, name text, member_id uuid, roles text[])
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select w.id, w.slug, w.name, m.id, m.roles from public.approvals_member m
  join public.approvals_workspace w on w.id = m.workspace_id where m.user_id = of_user order by w.name, w.slug
$$;

create function all_workspaces() returns table (workspace_id uuid, slug text, name text, created_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select w.id, w.slug, w.name, w.created_at from public.approvals_workspace w order by w.created_at, w.slug
$$;

-- What the dispatcher has to do now. what: wake | release | lease | silent | overlong | follow.
create function due(at_most integer) returns table (what text, workspace_id uuid, id uuid, kind text, fence bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  (select 'wake', j.workspace_id, j.id, j.kind, j.fence from public.approvals_job j
    where j.status = 'queued' and j.due_at <= now() order by j.due_at limit at_most)
  union all
  (select 'release', j.workspace_id, j.id, j.kind, j.fence from public.approvals_job j
    where j.status = 'held' and j.due_at <= now() order by j.due_at limit at_most)
  union all
  (select 'lease', j.workspace_id, j.id, j.kind, j.fence from public.approvals_job j
    where j.status = 'running' and j.lease_until < now() order by j.lease_until limit at_most)
  union all
  (select 'silent', r.workspace_id, r.id, 'run', 0 from public.approvals_run r
    where r.status = 'running' and r.silent_after < now() order by r.silent_after limit at_most)
  union all
  (select 'overlong', r.workspace_id, r.id, 'run', 0 from public.approvals_run r
    where r.status = 'running' and r.overlong_after < now() order by r.overlong_after limit at_most)
  union all
  -- A replay's job follows its run: the first event settles a doubt, the end ends it.
  (select 'follow', j.workspace_id, j.id, j.kind, j.fence from public.approvals_job j
    join public.approvals_run r on r.workspace_id = j.workspace_id and r.id = j.run_id
    where j.kind = 'replay'
      and ((j.status = 'in_doubt' and r.max_seq > 0)
           or (j.status = 'running' and j.accepted_at is not null and r.status <> 'running'))
    limit at_most)
$$;

-- Approved, and nobody has taken it for this long: the alarm of /readyz.
create function overdue_jobs(older_than interval) returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select count(*) from public.approvals_job j where j.status in ('held', 'queued') and j.due_at < now() - older_than
$$;

-- The queue items of the bound workspace in which the words occur: subject, external id, recipient or Message-ID.
create function search_items(words text, at_most integer) returns table (item_id uuid)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  with asked as (select current_setting('app.workspace_id')::uuid as workspace_id, lower(words) as words
                 where current_setting('app.subject') = '')  -- it knows no subjects, so it answers none of them
  select found.item_id from (
    select r.lineage_id as item_id from public.approvals_run r, asked
      where r.workspace_id = asked.workspace_id
        and (strpos(lower(r.subject), asked.words) > 0 or strpos(lower(r.external_id), asked.words) > 0)
    union
    select c.id from public.approvals_campaign c, asked
      where c.workspace_id = asked.workspace_id
        and (strpos(lower(c.name), asked.words) > 0 or strpos(lower(c.external_id), asked.words) > 0)
    union
    select d.campaign_id from public.approvals_delivery d, asked
      where d.workspace_id = asked.workspace_id
        and (strpos(d.dedupe_key, asked.words) > 0 or strpos(lower(d.message_id), asked.words) > 0)
  ) found limit at_most
$$;

-- A function is handed to a role that may create in the schema for just this moment.
grant create on schema public to @prefix@_sweep, @prefix@_search;
alter function token_of(bytea) owner to @prefix@_sweep;
alter function workspaces_of(bigint) owner to @prefix@_sweep;
alter function all_workspaces() owner to @prefix@_sweep;
alter function due(integer) owner to @prefix@_sweep;
alter function overdue_jobs(interval) owner to @prefix@_sweep;
alter function search_items(text, integer) owner to @prefix@_search;
revoke create on schema public from @prefix@_sweep, @prefix@_search;
