-- A test of a campaign's message, sent to the reviewer who asks for it. Its job names the delivery whose message it
-- shows as its sample, and neither a campaign nor a delivery of its own, so it is never one of a campaign's sendings.

-- The owner is bound to no workspace here, and Postgres looks through the rows that are there for one to complain of.
alter table approvals_job no force row level security;
alter table approvals_delivery no force row level security;
alter table approvals_job add constraint job_sample_same_workspace
  foreign key (workspace_id, sample_id) references approvals_delivery (workspace_id, id);
alter table approvals_job force row level security;
alter table approvals_delivery force row level security;
alter table approvals_job drop constraint job_target, add constraint job_target check
  ((kind = 'replay' and run_id is not null and campaign_id is null and delivery_id is null and sample_id is null)
   or (kind = 'send' and run_id is null and campaign_id is not null and sample_id is null)
   or (kind = 'test' and run_id is null and campaign_id is null and delivery_id is null and sample_id is not null));

-- A test that may have left never leaves again by itself, any more than a runtime is asked again.
alter table approvals_job drop constraint job_asks_once, add constraint job_asks_once
  check (kind = 'send' or intent_at is null or status not in ('held','queued','paused'));
create or replace function refuse_forgotten_intent() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception 'what job % is for may have happened already', old.id
    using errcode = '23514', constraint = 'job_intent_is_kept';
end $$;
drop trigger job_intent_is_kept on approvals_job;
create trigger job_intent_is_kept before update on approvals_job for each row
  when (old.kind <> 'send' and old.intent_at is not null and new.intent_at is null)
  execute function refuse_forgotten_intent();

-- It goes to whoever decided it, so only a member can.
alter table approvals_decision add constraint decision_test_by_member
  check (kind <> 'send_test' or actor_kind = 'member');

create or replace function is_releasing(kind text) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select kind in ('replay', 'force_replay', 'replay_again', 'answer_calls', 'confirm_call', 'reject_call', 'approve',
                  'send_again', 'send_test')
$$;

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
      when 'approve' then j.campaign_id = decision.item_id and j.delivery_id is null
      when 'send_again' then j.campaign_id = decision.item_id and j.delivery_id = decision.target_id
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
