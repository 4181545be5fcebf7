-- A person may end a replay that a worker streams: then their entry tells that the job is over.
drop trigger job_end_is_told on approvals_job;
create constraint trigger job_end_is_told after update on approvals_job
  deferrable initially deferred for each row
  when (old.status is distinct from new.status and new.status in ('done', 'failed', 'in_doubt'))
  execute function job_is_told('outcome', 'resolve_run', 'replay_again', 'stop_replay');
