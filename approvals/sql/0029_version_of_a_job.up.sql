-- A job that sends names the version that its decision is bound to. Each message's row is opened for such a job, and to
-- find its version by the decision's digest each time was two thirds of what that costs.

-- The owner is bound to no workspace here, and Postgres looks through the rows that are there for one to complain of.
alter table approvals_job no force row level security;
alter table approvals_decision no force row level security;
alter table approvals_version no force row level security;
alter table approvals_job disable trigger user;
update approvals_job j set version_id = v.id from approvals_decision d, approvals_version v
  where j.kind = 'send' and d.workspace_id = j.workspace_id and d.id = j.decision_id
    and v.workspace_id = j.workspace_id and v.campaign_id = j.campaign_id and v.digest = d.digest;
alter table approvals_job enable trigger user;
alter table approvals_job add constraint job_version_same_workspace
  foreign key (workspace_id, version_id) references approvals_version (workspace_id, id);
alter table approvals_job drop constraint job_target, add constraint job_target check
  ((kind = 'replay' and run_id is not null and campaign_id is null and version_id is null and delivery_id is null
    and sample_id is null)
   or (kind = 'send' and run_id is null and campaign_id is not null and version_id is not null and sample_id is null)
   or (kind = 'test' and run_id is null and campaign_id is null and version_id is null and delivery_id is null
    and sample_id is not null));
alter table approvals_version force row level security;
alter table approvals_decision force row level security;
alter table approvals_job force row level security;

-- As in 0024, and a job that sends is of the version whose digest was shown.
create or replace function one_job_per_release() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  of_decision uuid := case tg_table_name when 'approvals_job' then to_jsonb(new) ->> 'decision_id'
                      else to_jsonb(new) ->> 'id' end;
  decision public.approvals_decision;
  jobs integer;
  fitting integer;
begin
  select * into decision from public.approvals_decision d
    where d.workspace_id = new.workspace_id and d.id = of_decision;
  -- A job does what its decision is about, and nothing else.
  select count(*), count(*) filter (where case decision.kind
      when 'approve' then j.campaign_id = decision.item_id and j.delivery_id is null and exists (
        select from public.approvals_version v where v.workspace_id = j.workspace_id and v.id = j.version_id
          and v.campaign_id = j.campaign_id and v.digest = decision.digest)
      when 'send_again' then j.campaign_id = decision.item_id and j.delivery_id = decision.target_id and exists (
        select from public.approvals_delivery d join public.approvals_version v
            on v.workspace_id = d.workspace_id and v.id = d.version_id
          where d.workspace_id = j.workspace_id and d.id = j.delivery_id and d.version_id = j.version_id
            and d.campaign_id = j.campaign_id and v.digest = decision.digest)
      -- A test shows the version whose digest was shown.
      when 'send_test' then j.sample_id = decision.target_id and exists (select from public.approvals_delivery d
        join public.approvals_version v on v.workspace_id = d.workspace_id and v.id = d.version_id
        where d.workspace_id = j.workspace_id and d.id = j.sample_id and d.campaign_id = decision.item_id
          and v.digest = decision.digest)
      else j.kind = 'replay' and exists (select from public.approvals_run r
        where r.workspace_id = j.workspace_id and r.id = j.run_id and r.lineage_id = decision.item_id) end)
    into jobs, fitting
    from public.approvals_job j where j.workspace_id = new.workspace_id and j.decision_id = of_decision;
  if decision.id is null or jobs <> public.is_releasing(decision.kind)::integer or fitting <> jobs then
    raise exception 'decision % of kind % has % jobs, of which % fit it', of_decision, decision.kind, jobs, fitting
      using errcode = '23514', constraint = 'one_job_per_release';
  end if;
  return null;
end $$;

-- As in 0022, but the job knows its version.
create or replace function refuse_step_of_delivery() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if new.state = old.state then
    return new;
  end if;
  if new.state <> all (case old.state
      when 'planned' then array['attempting','skipped']
      when 'attempting' then array['sent','failed','in_doubt','planned']
      when 'in_doubt' then array['sent','planned']
      when 'failed' then array['planned']
      else array[]::text[] end) then
    raise exception 'delivery may not go from % to %', old.state, new.state
      using errcode = '23514', constraint = 'delivery_transition';
  end if;
  -- An attempt is the running job's that was decided for it. Without a job delivery_attempt_is_owned refuses it.
  if new.state = 'attempting' and new.job_id is not null and not exists (select from public.approvals_job j
      where j.workspace_id = new.workspace_id and j.id = new.job_id and j.status = 'running' and j.fence = new.fence
        and j.version_id = new.version_id and j.campaign_id = new.campaign_id
        and (j.delivery_id is null or j.delivery_id = new.id)) then
    raise exception 'delivery % is attempted by a job that is not running for it', new.id
      using errcode = '23514', constraint = 'delivery_attempt_is_released';
  end if;
  return new;
end $$;
