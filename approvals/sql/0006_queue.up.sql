-- The queue's rows: derived from runs, jobs, campaigns and deliveries whenever one of them moves.

create function place_lineage(of_workspace uuid, of_lineage uuid) returns void
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

create function place_campaign(of_workspace uuid, of_campaign uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  campaign public.approvals_campaign;
  trouble text;
  tab text;
begin
  select * into strict campaign from public.approvals_campaign c
    where c.workspace_id = of_workspace and c.id = of_campaign;
  select d.state into trouble from public.approvals_delivery d
    where d.workspace_id = of_workspace and d.campaign_id = of_campaign
      and d.state in ('in_doubt', 'failed') and d.resolved_at is null
    order by d.state desc limit 1;
  tab := case when campaign.status = 'pending' or trouble is not null then 'decide'
              when campaign.status in ('approved', 'sending') then 'progress' else 'history' end;
  insert into public.approvals_queueitem as q
      (id, workspace_id, kind, tab, state, agent, subject, title, since, due)
    values (of_campaign, of_workspace, 'campaign', tab, coalesce(trouble, campaign.status), campaign.agent, '',
            campaign.name,
            case when campaign.status = 'pending' then campaign.created_at else clock_timestamp() end,
            case when campaign.status = 'pending' then coalesce(campaign.send_by, 'infinity') else 'infinity' end)
  on conflict (id) do update set tab = excluded.tab, state = excluded.state, since = excluded.since,
    due = excluded.due
  where (q.tab, q.state, q.due) is distinct from (excluded.tab, excluded.state, excluded.due);
end $$;

create function run_moved() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin perform public.place_lineage(new.workspace_id, new.lineage_id); return null; end $$;
create trigger run_added after insert on approvals_run for each row execute function run_moved();
create trigger run_moved after update on approvals_run for each row
  when ((old.status, old.started_at is null, old.dismissed_at) is distinct from
        (new.status, new.started_at is null, new.dismissed_at)) execute function run_moved();

create function job_moved() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
  perform public.place_lineage(r.workspace_id, r.lineage_id) from public.approvals_run r
    where r.workspace_id = new.workspace_id and r.id = new.run_id;
  return null;
end $$;
create trigger job_added after insert on approvals_job for each row
  when (new.kind = 'replay') execute function job_moved();
create trigger job_moved after update on approvals_job for each row
  when (new.kind = 'replay' and old.status <> new.status) execute function job_moved();

create function campaign_moved() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin perform public.place_campaign(new.workspace_id, new.id); return null; end $$;
create trigger campaign_added after insert on approvals_campaign for each row execute function campaign_moved();
create trigger campaign_moved after update on approvals_campaign for each row
  when (old.status <> new.status) execute function campaign_moved();

create function delivery_moved() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin perform public.place_campaign(new.workspace_id, new.campaign_id); return null; end $$;
create trigger delivery_moved after update on approvals_delivery for each row
  when ((old.state in ('in_doubt', 'failed') and old.resolved_at is null)
        is distinct from (new.state in ('in_doubt', 'failed') and new.resolved_at is null))
  execute function delivery_moved();
