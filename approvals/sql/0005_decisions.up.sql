-- The decision log: append-only, a hash chain a workspace, and one job for each releasing decision.

create trigger decision_append_only before update or delete on approvals_decision
  for each row execute function refuse_change();
create trigger decision_no_truncate before truncate on approvals_decision
  for each statement execute function refuse_change();

-- One field of a hashed entry: its length in bytes, a colon, the text; "-" for null. No two lists of fields collide.
create function hashed_field(value text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce(octet_length(convert_to(value, 'UTF8'))::text || ':' || value, '-')
$$;

create function hashed_time(value timestamptz) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;

create function decision_hash(entry approvals_decision) returns bytea
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select sha256(entry.prev_hash || convert_to(
    public.hashed_field(entry.workspace_id::text) || public.hashed_field(entry.seq::text)
    || public.hashed_field(entry.id::text) || public.hashed_field(public.hashed_time(entry.at))
    || public.hashed_field(entry.kind) || public.hashed_field(entry.actor_kind)
    || public.hashed_field(entry.actor_id) || public.hashed_field(entry.actor_name)
    || public.hashed_field(array_to_string(entry.actor_roles, ',')) || public.hashed_field(entry.sign_in)
    || public.hashed_field(public.hashed_time(entry.opened_at))
    || public.hashed_field(entry.target_kind) || public.hashed_field(entry.target_id::text)
    || public.hashed_field(entry.item_id::text) || public.hashed_field(entry.agent)
    || public.hashed_field(entry.subject) || public.hashed_field(entry.digest)
    || public.hashed_field(entry.payload_id::text) || public.hashed_field(encode(entry.payload_hash, 'hex')),
    'UTF8'))
$$;

create function decision_chained() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  head record;
begin
  -- Held to the end of the transaction, which is why a decision is inserted last.
  perform pg_advisory_xact_lock(hashtextextended('decision ' || new.workspace_id::text, 0));
  select d.seq, d.hash into head from public.approvals_decision d
    where d.workspace_id = new.workspace_id order by d.seq desc limit 1;
  new.seq := coalesce(head.seq, 0) + 1;
  new.at := clock_timestamp();
  new.prev_hash := coalesce(head.hash, ''::bytea);
  new.hash := public.decision_hash(new);
  return new;
end $$;
create trigger decision_chained before insert on approvals_decision
  for each row execute function decision_chained();

-- Which kinds release an effect. rules/decisions has the same list; a test compares them.
create function is_releasing(kind text) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select kind in ('replay', 'force_replay', 'replay_again', 'approve', 'send_again')
$$;

create function one_job_per_release() returns trigger
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
create constraint trigger decision_has_its_job after insert on approvals_decision
  deferrable initially deferred for each row execute function one_job_per_release();
create constraint trigger job_has_its_decision after insert on approvals_job
  deferrable initially deferred for each row execute function one_job_per_release();

create trigger job_kept before delete on approvals_job for each row execute function refuse_change();
create trigger delivery_kept before delete on approvals_delivery for each row execute function refuse_change();

-- Wakes the dispatcher, which is the only publisher.
create function job_queued() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_notify('due', new.workspace_id::text || ' ' || new.id::text || ' ' || new.kind
    || ' ' || new.fence::text);
  return null;
end $$;
create trigger job_queued_now after insert on approvals_job for each row
  when (new.status = 'queued') execute function job_queued();
create trigger job_queued_later after update on approvals_job for each row
  when (new.status = 'queued' and old.status <> 'queued' and new.due_at <= now()) execute function job_queued();
