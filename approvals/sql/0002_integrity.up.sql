-- What must hold between rows: keys that cannot cross workspaces, closed lists, and the state machines.

-- A parent is cited as (workspace, id), so that a reference cannot leave its workspace.
do $$ declare noun text; begin
  foreach noun in array array['runtime','token','run','decision','job','campaign','version','delivery'] loop
    execute format('alter table approvals_%1$s add constraint %1$s_workspace_id unique (workspace_id, id)', noun);
  end loop;
end $$;
alter table approvals_audiencerow add constraint audiencerow_workspace_id unique (workspace_id, id);

alter table approvals_token add constraint token_runtime_same_workspace
  foreign key (workspace_id, runtime_id) references approvals_runtime (workspace_id, id);
alter table approvals_run add constraint run_runtime_same_workspace
  foreign key (workspace_id, runtime_id) references approvals_runtime (workspace_id, id);
alter table approvals_run add constraint run_replay_of_same_workspace
  foreign key (workspace_id, replay_of_id) references approvals_run (workspace_id, id);
alter table approvals_run add constraint run_lineage_same_workspace
  foreign key (workspace_id, lineage_id) references approvals_run (workspace_id, id);
alter table approvals_event add constraint event_run_same_workspace
  foreign key (workspace_id, run_id) references approvals_run (workspace_id, id);
alter table approvals_runtool add constraint runtool_run_same_workspace
  foreign key (workspace_id, run_id) references approvals_run (workspace_id, id);
alter table approvals_campaign add constraint campaign_runtime_same_workspace
  foreign key (workspace_id, runtime_id) references approvals_runtime (workspace_id, id);
alter table approvals_campaign add constraint campaign_run_same_workspace
  foreign key (workspace_id, run_id) references approvals_run (workspace_id, id);
alter table approvals_version add constraint version_campaign_same_workspace
  foreign key (workspace_id, campaign_id) references approvals_campaign (workspace_id, id);
alter table approvals_audiencerow add constraint audiencerow_version_same_workspace
  foreign key (workspace_id, version_id) references approvals_version (workspace_id, id);
alter table approvals_delivery add constraint delivery_campaign_same_workspace
  foreign key (workspace_id, campaign_id) references approvals_campaign (workspace_id, id);
alter table approvals_delivery add constraint delivery_version_same_workspace
  foreign key (workspace_id, version_id) references approvals_version (workspace_id, id);
alter table approvals_delivery add constraint delivery_audience_same_workspace
  foreign key (workspace_id, audience_row_id) references approvals_audiencerow (workspace_id, id);
alter table approvals_delivery add constraint delivery_job_same_workspace
  foreign key (workspace_id, job_id) references approvals_job (workspace_id, id);
alter table approvals_job add constraint job_run_same_workspace
  foreign key (workspace_id, run_id) references approvals_run (workspace_id, id);
alter table approvals_job add constraint job_campaign_same_workspace
  foreign key (workspace_id, campaign_id) references approvals_campaign (workspace_id, id);
alter table approvals_job add constraint job_delivery_same_workspace
  foreign key (workspace_id, delivery_id) references approvals_delivery (workspace_id, id);
-- The decision is inserted last (its chain lock is short), so the job waits for it until the commit.
alter table approvals_job add constraint job_decision_same_workspace
  foreign key (workspace_id, decision_id) references approvals_decision (workspace_id, id)
  deferrable initially deferred;

-- Closed lists. rules/ has the same ones; tests compare them.
alter table approvals_member add constraint member_roles_known
  check (roles <@ array['reviewer','support','manager','admin'] and cardinality(roles) > 0);
alter table approvals_runtime add constraint runtime_kind_known check (kind in ('http'));
alter table approvals_token add constraint token_digest_is_sha256 check (octet_length(digest) = 32);
-- An empty subject would be read as "bound to none", which is every subject.
alter table approvals_token add constraint token_subject_not_empty check (subject <> '');
alter table approvals_payload add constraint payload_salt_long_enough check (octet_length(salt) = 16);
alter table approvals_run add constraint run_status_known
  check (status in ('running','completed','failed','interrupted','cancelled'));
alter table approvals_run add constraint run_lineage_begins_with_itself
  check ((replay_of_id is null) = (lineage_id = id));
alter table approvals_event add constraint event_type_known check (type in
  ('heartbeat','message','tool_call','tool_result','node_started','node_finished','ended'));
alter table approvals_event add constraint event_seq_positive check (seq >= 1);
alter table approvals_event add constraint event_origin_known check (origin in ('live','restored'));
alter table approvals_event add constraint event_provenance_known
  check (provenance in ('reported','observed','guarded'));
alter table approvals_event add constraint event_call_named check
  ((type in ('tool_call','tool_result')) = (call_id is not null) and (type <> 'tool_call' or name is not null));
alter table approvals_event add constraint event_outcome_known check
  ((type = 'ended') = (outcome is not null) and (outcome is null or outcome in ('completed','failed','cancelled')));
alter table approvals_event add constraint event_payload_hashed
  check ((payload_id is null) = (payload_hash is null) and (payload_hash is null or octet_length(payload_hash) = 32));
alter table approvals_decision add constraint decision_actor_known
  check (actor_kind in ('member','rule','token','operator'));
alter table approvals_job add constraint job_status_known
  check (status in ('held','queued','running','done','failed','in_doubt','cancelled'));
alter table approvals_job add constraint job_target check
  ((kind = 'replay' and run_id is not null and campaign_id is null and delivery_id is null)
   or (kind = 'send' and run_id is null and campaign_id is not null));
alter table approvals_job add constraint job_lease_only_while_running
  check (lease_until is null or status = 'running');
-- A runtime that may have been asked is never asked again by itself.
alter table approvals_job add constraint job_asks_once
  check (kind <> 'replay' or intent_at is null or status not in ('held','queued'));
alter table approvals_campaign add constraint campaign_status_known
  check (status in ('pending','approved','rejected','sending','finished','stopped'));
alter table approvals_version add constraint version_sealed_with_digest
  check ((sealed_at is null) = (digest = ''));
alter table approvals_audiencerow add constraint audience_state_known
  check (state in ('addressable','duplicate','refused') and (state = 'addressable' or reason <> ''));
alter table approvals_delivery add constraint delivery_state_known
  check (state in ('planned','attempting','sent','failed','in_doubt','skipped'));
alter table approvals_delivery add constraint delivery_attempt_is_owned
  check (state <> 'attempting' or (job_id is not null and fence is not null and attempted_at is not null));

-- The state machines of rules/states.py; a test compares the two.
create function transition_allowed(machine text, old_state text, new_state text) returns boolean
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

create function refuse_illegal_transition() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  old_state text := to_jsonb(old) ->> tg_argv[1];
  new_state text := to_jsonb(new) ->> tg_argv[1];
begin
  if not public.transition_allowed(tg_argv[0], old_state, new_state) then
    raise exception '% may not go from % to %', tg_argv[0], old_state, new_state
      using errcode = '23514', constraint = tg_argv[0] || '_transition';
  end if;
  return new;
end $$;

create trigger run_transition before update on approvals_run for each row
  when (old.status is distinct from new.status) execute function refuse_illegal_transition('run', 'status');
create trigger job_transition before update on approvals_job for each row
  when (old.status is distinct from new.status) execute function refuse_illegal_transition('job', 'status');
create trigger campaign_transition before update on approvals_campaign for each row
  when (old.status is distinct from new.status) execute function refuse_illegal_transition('campaign', 'status');
create trigger delivery_transition before update on approvals_delivery for each row
  when (old.state is distinct from new.state) execute function refuse_illegal_transition('delivery', 'state');

-- Every machine begins at its beginning, and nothing about its progress is known yet.
create function refuse_illegal_birth() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not (to_jsonb(new) ->> tg_argv[1]) = any (string_to_array(tg_argv[2], ' ')) then
    raise exception '% may not begin as %', tg_argv[0], to_jsonb(new) ->> tg_argv[1]
      using errcode = '23514', constraint = tg_argv[0] || '_born';
  end if;
  return new;
end $$;
create trigger job_born before insert on approvals_job for each row
  execute function refuse_illegal_birth('job', 'status', 'held queued');
create trigger campaign_born before insert on approvals_campaign for each row
  execute function refuse_illegal_birth('campaign', 'status', 'pending');
create trigger delivery_born before insert on approvals_delivery for each row
  execute function refuse_illegal_birth('delivery', 'state', 'planned');

-- Each claim has a higher fence than the one before, so that a worker that was given up cannot settle anything.
create function refuse_old_fence() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if new.fence < old.fence or (old.status = 'queued' and new.status = 'running' and new.fence = old.fence) then
    raise exception 'job % has had fence %', old.id, old.fence using errcode = '23514', constraint = 'job_fence';
  end if;
  return new;
end $$;
create trigger job_fence before update on approvals_job for each row execute function refuse_old_fence();

-- A revoked token stays revoked.
create function refuse_unrevoking() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at then
    raise exception 'token % is revoked', old.id using errcode = '23514', constraint = 'token_stays_revoked';
  end if;
  return new;
end $$;
create trigger token_stays_revoked before update on approvals_token for each row execute function refuse_unrevoking();

-- A sealed version and its audience never change.
create function refuse_change_of_sealed() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if old.sealed_at is not null then
    raise exception 'version % is sealed', old.id using errcode = '23514', constraint = 'version_sealed';
  end if;
  if (to_jsonb(new) - 'sealed_at' - 'digest') is distinct from (to_jsonb(old) - 'sealed_at' - 'digest') then
    raise exception 'a version is only ever sealed' using errcode = '23514', constraint = 'version_sealed';
  end if;
  return new;
end $$;
create trigger version_sealed before update on approvals_version for each row
  execute function refuse_change_of_sealed();

create function refuse_rows_for_sealed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare version record;
begin
  -- The lock waits for a sealing in progress and then sees it. The condition is asked after it: a row that does not
  -- meet it in the snapshot would not be waited for.
  for version in select v.id, v.sealed_at from public.approvals_version v
      where (v.workspace_id, v.id) in (select distinct n.workspace_id, n.version_id from added n) for share
  loop
    if version.sealed_at is not null then
      raise exception 'version % is sealed', version.id using errcode = '23514', constraint = 'version_sealed';
    end if;
  end loop;
  return null;
end $$;
create trigger audience_before_seal after insert on approvals_audiencerow referencing new table as added
  for each statement execute function refuse_rows_for_sealed();
create trigger delivery_before_seal after insert on approvals_delivery referencing new table as added
  for each statement execute function refuse_rows_for_sealed();
