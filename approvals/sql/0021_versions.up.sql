-- Further versions of a campaign: what may move, which version a job may send, and where the campaign stands.

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
    ('campaign','pending','approved'), ('campaign','pending','rejected'), ('campaign','pending','returned'),
    ('campaign','returned','pending'), ('campaign','returned','rejected'),
    ('campaign','approved','pending'), ('campaign','approved','sending'),
    ('campaign','sending','finished'), ('campaign','sending','stopped'), ('campaign','sending','paused'),
    ('campaign','sending','pending'),
    ('campaign','paused','sending'), ('campaign','paused','finished'), ('campaign','paused','stopped'),
    ('campaign','paused','pending'),
    ('campaign','stopped','pending'),
    ('delivery','planned','attempting'), ('delivery','planned','skipped'),
    ('delivery','attempting','sent'), ('delivery','attempting','failed'),
    ('delivery','attempting','in_doubt'), ('delivery','attempting','planned'),
    ('delivery','in_doubt','sent'), ('delivery','in_doubt','planned'),
    ('delivery','failed','planned')
  ) as allowed (m, o, n) where m = machine and o = old_state and n = new_state)
$$;

alter table approvals_campaign drop constraint campaign_status_known, add constraint campaign_status_known
  check (status in ('pending','returned','approved','rejected','sending','paused','finished','stopped'));
alter table approvals_audiencerow drop constraint audience_state_known, add constraint audience_state_known
  check (state in ('addressable','duplicate','suppressed','refused','already_sent')
         and (state = 'addressable' or reason <> ''));

-- Whatever a decision was about stays as it was decided: another name, deadline or content makes the campaign wait.
create function refuse_other_terms() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception 'campaign % is % and keeps its terms', old.id, new.status
    using errcode = '23514', constraint = 'campaign_terms_kept';
end $$;
create trigger campaign_terms_kept before update on approvals_campaign for each row
  when ((old.name is distinct from new.name or old.purpose is distinct from new.purpose
         or old.send_by is distinct from new.send_by or old.run_id is distinct from new.run_id)
        and new.status <> 'pending')
  execute function refuse_other_terms();

create function refuse_version_of_decided() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform from public.approvals_campaign c
    where c.workspace_id = new.workspace_id and c.id = new.campaign_id and c.status = 'pending' for no key update;
  if not found then
    raise exception 'campaign % does not wait for a decision, so it gets no version', new.campaign_id
      using errcode = '23514', constraint = 'version_of_pending';
  end if;
  return new;
end $$;
create trigger version_of_pending before insert on approvals_version for each row
  execute function refuse_version_of_decided();

-- Besides what 0013 asks: the delivery is of the version that the job's decision is bound to.
create or replace function refuse_attempt_of_another() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from public.approvals_job j
      join public.approvals_decision a on a.workspace_id = j.workspace_id and a.id = j.decision_id
      join public.approvals_version v on v.workspace_id = j.workspace_id and v.id = new.version_id
      where j.workspace_id = new.workspace_id and j.id = new.job_id and j.status = 'running' and j.fence = new.fence
        and j.campaign_id = new.campaign_id and (j.delivery_id is null or j.delivery_id = new.id)
        and v.digest = a.digest) then
    raise exception 'delivery % is attempted by a job that is not running for it', new.id
      using errcode = '23514', constraint = 'delivery_attempt_is_released';
  end if;
  return new;
end $$;

-- The queue's row of a campaign, now of its newest version.
create or replace function place_campaign(of_workspace uuid, of_campaign uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  campaign public.approvals_campaign;
  trouble text;
  paused boolean;
  tab text;
  since timestamptz;
begin
  select * into strict campaign from public.approvals_campaign c
    where c.workspace_id = of_workspace and c.id = of_campaign;
  select d.state into trouble from public.approvals_delivery d
    where d.workspace_id = of_workspace and d.campaign_id = of_campaign
      and d.state in ('in_doubt', 'failed') and d.resolved_at is null
    order by d.state desc limit 1;
  paused := campaign.status = 'paused' or exists (select from public.approvals_job j
    where j.workspace_id = of_workspace and j.campaign_id = of_campaign and j.status = 'paused');
  tab := case when campaign.status = 'pending' or paused or trouble is not null then 'decide'
              when campaign.status in ('returned', 'approved', 'sending') then 'progress' else 'history' end;
  since := clock_timestamp();
  if campaign.status = 'pending' then
    select coalesce(max(v.created_at), campaign.created_at) into since from public.approvals_version v
      where v.workspace_id = of_workspace and v.campaign_id = of_campaign and v.number > 1;
  end if;
  insert into public.approvals_queueitem as q
      (id, workspace_id, kind, tab, state, agent, subject, title, since, due)
    values (of_campaign, of_workspace, 'campaign', tab,
            case when paused then 'paused' else coalesce(trouble, campaign.status) end,
            campaign.agent, '', campaign.name, since,
            case when campaign.status = 'pending' then coalesce(campaign.send_by, 'infinity') else 'infinity' end)
  on conflict (id) do update set tab = excluded.tab, state = excluded.state, title = excluded.title,
    since = excluded.since, due = excluded.due
  where (q.tab, q.state, q.title, q.due) is distinct from (excluded.tab, excluded.state, excluded.title, excluded.due)
     or (campaign.status = 'pending' and q.since <> excluded.since);
end $$;
create function version_moved() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin perform public.place_campaign(new.workspace_id, new.campaign_id); return null; end $$;
create trigger version_moved after update on approvals_version for each row
  when (old.sealed_at is null and new.sealed_at is not null and new.number > 1) execute function version_moved();
create trigger campaign_renamed after update on approvals_campaign for each row
  when (old.name <> new.name) execute function campaign_findable();
