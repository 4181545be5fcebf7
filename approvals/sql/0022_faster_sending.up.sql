-- The two guards of a delivery's steps, in one function that is called for each row and reads nothing it need not: they
-- are most of what a round of messages costs. What they refuse, and under which names, is as before.

-- The steps are those of transition_allowed and rules/states.py; a test compares. A condition at the trigger would cost
-- more than the call: Postgres reads it anew for each statement.
create function refuse_step_of_delivery() returns trigger
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
  -- An attempt is the running job's that was decided for it, and of the version that the decision is bound to. Without
  -- a job delivery_attempt_is_owned refuses it.
  if new.state = 'attempting' and new.job_id is not null and not exists (select from public.approvals_job j
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
drop trigger delivery_transition on approvals_delivery;
drop trigger delivery_attempt_is_released on approvals_delivery;
drop function refuse_attempt_of_another();
create trigger delivery_transition before update on approvals_delivery for each row
  execute function refuse_step_of_delivery();
