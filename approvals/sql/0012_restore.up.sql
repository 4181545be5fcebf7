-- What a person can ask to be forgotten, and what a restored database does not do by itself.

-- A recipient's variables and given spelling may be erased (by the owner), and nothing else of a sealed audience.
-- What was sent where stays: delivery, digest and Message-ID.
alter table approvals_audiencerow add constraint audience_erased_is_empty
  check (erased_at is null or (vars = '{}' and email = '' and address = ''));
create function refuse_all_but_erasure() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if old.erased_at is not null or new.erased_at is null
     or (to_jsonb(new) - array['erased_at','vars','email','address'])
        is distinct from (to_jsonb(old) - array['erased_at','vars','email','address']) then
    raise exception 'UPDATE on approvals_audiencerow is refused: a recipient is only ever erased'
      using errcode = '42501';
  end if;
  return new;
end $$;
drop trigger audience_unchanged on approvals_audiencerow;
create trigger audience_only_erased before update on approvals_audiencerow
  for each row execute function refuse_all_but_erasure();
create trigger audience_kept before delete on approvals_audiencerow
  for each row execute function refuse_change();

-- Paused: a person says whether it goes on. Nobody but `manage.py restored` pauses a job.
alter table approvals_job drop constraint job_status_known, add constraint job_status_known
  check (status in ('held','queued','running','done','failed','in_doubt','cancelled','paused'));
alter table approvals_job drop constraint job_asks_once, add constraint job_asks_once
  check (kind <> 'replay' or intent_at is null or status not in ('held','queued','paused'));

create or replace function transition_allowed(machine text, old_state text, new_state text) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select exists (select from (values
    ('run','running','completed'), ('run','running','failed'), ('run','running','interrupted'),
    ('run','running','cancelled'),
    ('run','interrupted','completed'), ('run','interrupted','failed'), ('run','interrupted','cancelled'),
    ('job','held','queued'), ('job','held','cancelled'),
    ('job','queued','running'), ('job','queued','cancelled'),
    ('job','running','done'), ('job','running','failed'), ('job','running','in_doubt'),
    ('job','running','queued'),
    ('job','in_doubt','running'), ('job','in_doubt','failed'),
    ('job','held','paused'), ('job','queued','paused'), ('job','running','paused'),
    ('job','paused','queued'), ('job','paused','cancelled'), ('job','paused','running'),
    ('campaign','pending','approved'), ('campaign','pending','rejected'),
    ('campaign','approved','pending'), ('campaign','approved','sending'),
    ('campaign','sending','finished'), ('campaign','sending','stopped'),
    ('delivery','planned','attempting'), ('delivery','planned','skipped'),
    ('delivery','attempting','sent'), ('delivery','attempting','failed'),
    ('delivery','attempting','in_doubt'), ('delivery','attempting','planned'),
    ('delivery','in_doubt','sent'), ('delivery','in_doubt','planned'),
    ('delivery','failed','planned')
  ) as allowed (m, o, n) where m = machine and o = old_state and n = new_state)
$$;

-- The queue's rows.

create or replace function place_lineage(of_workspace uuid, of_lineage uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  root public.approvals_run;
  head public.approvals_run;   -- the last attempt that really began
  last_job public.approvals_job;
  tab text;
  state text;
  since timestamptz;
begin
  select * into strict root from public.approvals_run r where r.workspace_id = of_workspace and r.id = of_lineage;
  select * into head from public.approvals_run r
    where r.workspace_id = of_workspace and r.lineage_id = of_lineage and r.started_at is not null
    order by r.created_at desc, r.id desc limit 1;
  select j.* into last_job from public.approvals_job j
    join public.approvals_run r on r.workspace_id = j.workspace_id and r.id = j.run_id
    where r.workspace_id = of_workspace and r.lineage_id = of_lineage
    order by j.created_at desc, j.id desc limit 1;
  if last_job.status = 'in_doubt' then
    tab := 'decide'; state := 'in_doubt'; since := coalesce(last_job.finished_at, last_job.created_at);
  elsif last_job.status = 'paused' then
    tab := 'decide'; state := 'paused'; since := last_job.due_at;
  elsif last_job.status in ('held', 'queued') then
    tab := 'progress'; state := 'queued'; since := last_job.created_at;
  elsif exists (select from public.approvals_run r where r.workspace_id = of_workspace
                and r.lineage_id = of_lineage and r.status = 'running') then
    tab := 'progress'; state := 'running'; since := coalesce(head.started_at, root.created_at);
  elsif head.status in ('interrupted', 'failed') and head.dismissed_at is null then
    tab := 'decide'; since := coalesce(head.ended_at, head.interrupted_at, head.created_at);
    state := case when last_job.status = 'failed' and last_job.run_id <> head.id then 'replay_failed'
                  else head.status end;
  else
    tab := 'history'; state := case when head.dismissed_at is not null then 'dismissed' else head.status end;
    since := coalesce(head.ended_at, head.interrupted_at, head.created_at);
  end if;
  insert into public.approvals_queueitem as q
      (id, workspace_id, kind, tab, state, run_id, agent, subject, title, since, due)
    values (of_lineage, of_workspace, 'run', tab, state, head.id, root.agent, root.subject, root.external_id,
            since, 'infinity')
  on conflict (id) do update set tab = excluded.tab, state = excluded.state, run_id = excluded.run_id,
    since = excluded.since
  where (q.tab, q.state, q.run_id, q.since) is distinct from
        (excluded.tab, excluded.state, excluded.run_id, excluded.since);
end $$;

create or replace function place_campaign(of_workspace uuid, of_campaign uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  campaign public.approvals_campaign;
  trouble text;
  paused boolean;
  tab text;
begin
  select * into strict campaign from public.approvals_campaign c
    where c.workspace_id = of_workspace and c.id = of_campaign;
  select d.state into trouble from public.approvals_delivery d
    where d.workspace_id = of_workspace and d.campaign_id = of_campaign
      and d.state in ('in_doubt', 'failed') and d.resolved_at is null
    order by d.state desc limit 1;
  paused := exists (select from public.approvals_job j
    where j.workspace_id = of_workspace and j.campaign_id = of_campaign and j.status = 'paused');
  tab := case when campaign.status = 'pending' or paused or trouble is not null then 'decide'
              when campaign.status in ('approved', 'sending') then 'progress' else 'history' end;
  insert into public.approvals_queueitem as q
      (id, workspace_id, kind, tab, state, agent, subject, title, since, due)
    values (of_campaign, of_workspace, 'campaign', tab,
            case when paused then 'paused' else coalesce(trouble, campaign.status) end, campaign.agent, '',
            campaign.name,
            case when campaign.status = 'pending' then campaign.created_at else clock_timestamp() end,
            case when campaign.status = 'pending' then coalesce(campaign.send_by, 'infinity') else 'infinity' end)
  on conflict (id) do update set tab = excluded.tab, state = excluded.state, since = excluded.since,
    due = excluded.due
  where (q.tab, q.state, q.due) is distinct from (excluded.tab, excluded.state, excluded.due);
end $$;

-- The same condition as before, written so that it reads the same after pg_dump and pg_restore: doctor compares.
drop trigger run_moved on approvals_run;
create trigger run_moved after update on approvals_run for each row
  when (old.status is distinct from new.status or (old.started_at is null) <> (new.started_at is null)
        or old.dismissed_at is distinct from new.dismissed_at) execute function run_moved();

create function send_job_moved() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin perform public.place_campaign(new.workspace_id, new.campaign_id); return null; end $$;
create trigger send_job_moved after update on approvals_job for each row
  when (new.kind = 'send' and (old.status = 'paused') <> (new.status = 'paused')) execute function send_job_moved();

-- Where this database lives: the server, its timeline, the database, and the very table, which pg_restore makes anew.
-- A copy that starts somewhere else does not know what happened after it was taken, so nothing runs there unasked.
alter table approvals_place add constraint place_only_one check (id = 1);
create function place_now(out system bigint, out timeline integer, out database bigint, out relation bigint)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select (select s.system_identifier from pg_control_system() s),
    ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer,
    (select d.oid::bigint from pg_database d where d.datname = current_database()),
    'public.approvals_place'::regclass::oid::bigint
$$;
create function adopt_place() returns void
language sql set search_path = pg_catalog, pg_temp as $$
  insert into public.approvals_place as p (id, system, timeline, database, relation)
    select 1, n.system, n.timeline, n.database, n.relation from public.place_now() n
  on conflict (id) do update set system = excluded.system, timeline = excluded.timeline,
    database = excluded.database, relation = excluded.relation
$$;

-- A replay that waits for a person may have been handed over after the backup was taken: its runtime tells.
grant create on schema public to @prefix@_sweep;
set role @prefix@_sweep;
create or replace function due(at_most integer) returns table (what text, workspace_id uuid, id uuid, kind text, fence bigint)
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
      and ((j.status in ('in_doubt', 'paused') and r.max_seq > 0)
           or (j.status = 'running' and j.accepted_at is not null and r.status <> 'running'))
    limit at_most)
$$;
reset role;
revoke create on schema public from @prefix@_sweep;
