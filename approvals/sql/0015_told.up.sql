-- A job ends and goes on as its own transaction tells, whenever that began.

-- decision_hash does without it since 0011_anchors.
drop function hashed_field(text);

-- The arguments are the kinds of entries of which there has to be one about the job. `at` is read from the clock when an
-- entry is inserted, so an earlier transaction's is older than this one; but one that another transaction wrote while
-- this one was open is younger too. What can be seen although its transaction is still in progress was written by this
-- one, or by a savepoint of it: those have later numbers. A row shows 32 bits of such a number.
create function job_is_told() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  here bigint := pg_current_xact_id()::text::bigint;
begin
  if not exists (select from public.approvals_decision d,
        lateral (select (d.xmin::text::bigint - here % 4294967296 + 4294967296) % 4294967296 as later) own
      where d.workspace_id = new.workspace_id and d.target_id = new.id and d.at >= now()
        and case when own.later < 2147483648 then pg_xact_status((here + own.later)::text::xid8) = 'in progress' end
        and d.target_kind = 'job' and d.kind = any (tg_argv)) then
    raise exception 'job % is % and the log does not say so', new.id, new.status
      using errcode = '23514', constraint = tg_name;
  end if;
  return null;
end $$;

-- What came of it, or the person who said what became of it.
drop trigger job_end_is_told on approvals_job;
drop function job_end_is_told();
create constraint trigger job_end_is_told after update on approvals_job
  deferrable initially deferred for each row
  when (old.status is distinct from new.status and new.status in ('done', 'failed', 'in_doubt'))
  execute function job_is_told('outcome', 'resolve_run', 'replay_again');

-- What a restored database holds back goes on once a person says so, or once its runtime tells of it.
create constraint trigger job_resumption_is_told after update on approvals_job
  deferrable initially deferred for each row when (old.status = 'paused' and new.status = 'queued')
  execute function job_is_told('resume_replay', 'resume_send');

create function refuse_unheard() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from public.approvals_run r
      where r.workspace_id = new.workspace_id and r.id = new.run_id and r.max_seq > 0) then
    raise exception 'job % is paused, and its run was not heard from', old.id
      using errcode = '23514', constraint = 'job_pause_is_kept';
  end if;
  return new;
end $$;
create trigger job_pause_is_kept before update on approvals_job for each row
  when (old.status = 'paused' and new.status = 'running') execute function refuse_unheard();

-- The same condition as before, written so that it reads the same after pg_dump and pg_restore: doctor compares.
drop trigger queueitem_moved on approvals_queueitem;
create trigger queueitem_moved after update on approvals_queueitem for each row
  when (old.tab is distinct from new.tab or old.since is distinct from new.since or old.due is distinct from new.due)
  execute function queueitem_moved();
