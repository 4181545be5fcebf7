-- Each attempt at a delivery is the running job's that was decided for it, and an intent is never forgotten.

-- A row that cites another campaign's job, or one that is over, would carry an approval that nobody gave.
create function refuse_attempt_of_another() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from public.approvals_job j
      where j.workspace_id = new.workspace_id and j.id = new.job_id and j.status = 'running' and j.fence = new.fence
        and j.campaign_id = new.campaign_id and (j.delivery_id is null or j.delivery_id = new.id)) then
    raise exception 'delivery % is attempted by a job that is not running for it', new.id
      using errcode = '23514', constraint = 'delivery_attempt_is_released';
  end if;
  return new;
end $$;
create trigger delivery_attempt_is_released before update on approvals_delivery for each row
  when (new.state = 'attempting' and old.state <> 'attempting' and new.job_id is not null)
  execute function refuse_attempt_of_another();

-- job_asks_once looks at the intent; whoever could take it away would have the runtime asked again.
create function refuse_forgotten_intent() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception 'job % may have asked its runtime already', old.id
    using errcode = '23514', constraint = 'job_intent_is_kept';
end $$;
create trigger job_intent_is_kept before update on approvals_job for each row
  when (old.kind = 'replay' and old.intent_at is not null and new.intent_at is null)
  execute function refuse_forgotten_intent();
