-- What came of an execution, and who was refused, are entries of the log.

alter table approvals_decision drop constraint decision_actor_known;
alter table approvals_decision add constraint decision_actor_known
  check (actor_kind in ('member','rule','token','operator','system'));
-- An outcome is nobody's decision, and tells of a job.
alter table approvals_decision add constraint decision_outcome_of_job
  check (kind <> 'outcome' or (actor_kind = 'system' and target_kind = 'job'));

-- A job ends with an entry about it in the same transaction: what came of it, or the person who said what became of
-- it. `at` is read from the clock when an entry is inserted, so an earlier transaction's is older than this one.
create function job_end_is_told() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from public.approvals_decision d
      where d.workspace_id = new.workspace_id and d.target_id = new.id and d.at >= now()
        and d.target_kind = 'job' and d.kind in ('outcome', 'resolve_run', 'replay_again')) then
    raise exception 'job % is % and the log does not say so', new.id, new.status
      using errcode = '23514', constraint = 'job_end_is_told';
  end if;
  return null;
end $$;
create constraint trigger job_end_is_told after update on approvals_job
  deferrable initially deferred for each row
  when (old.status is distinct from new.status and new.status in ('done', 'failed', 'in_doubt'))
  execute function job_end_is_told();
