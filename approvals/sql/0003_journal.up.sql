-- The journal: append-only, and the one thing that moves a run along while events come in.

create function refuse_change() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception '% on % is refused: it is append-only', tg_op, tg_table_name using errcode = '42501';
end $$;

create trigger event_append_only before update or delete on approvals_event
  for each row execute function refuse_change();
create trigger event_no_truncate before truncate on approvals_event
  for each statement execute function refuse_change();
-- A payload may be erased (by the owner), never changed.
create trigger payload_unchanged before update on approvals_payload
  for each row execute function refuse_change();
create trigger payload_no_truncate before truncate on approvals_payload
  for each statement execute function refuse_change();
create trigger audience_unchanged before update or delete on approvals_audiencerow
  for each row execute function refuse_change();
create trigger run_kept before delete on approvals_run for each row execute function refuse_change();
create trigger run_no_truncate before truncate on approvals_run
  for each statement execute function refuse_change();

create function run_born() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if new.tools_executed is not null or new.settled_at is not null then
    raise exception 'a run is born without a record' using errcode = '23514', constraint = 'tools_executed_write_once';
  end if;
  if new.status <> 'running' or new.next_seq <> 1 or new.max_seq <> 0 then
    raise exception 'a run is born running and without events' using errcode = '23514', constraint = 'run_born';
  end if;
  new.created_at := clock_timestamp();
  if new.replay_of_id is null then
    -- Told to us by its runtime: it is already running. A replay starts when it is handed over.
    select clock_timestamp(), clock_timestamp() + make_interval(secs => t.silence_s),
           clock_timestamp() + make_interval(secs => t.time_limit_s)
      into new.started_at, new.silent_after, new.overlong_after
      from public.approvals_runtime t where t.workspace_id = new.workspace_id and t.id = new.runtime_id;
  elsif not exists (select from public.approvals_run r
      where r.workspace_id = new.workspace_id and r.id = new.replay_of_id
        and (r.lineage_id, r.runtime_id, r.agent, r.subject) = (new.lineage_id, new.runtime_id, new.agent, new.subject))
      then
    raise exception 'a replay is of the lineage, runtime, agent and subject of its run'
      using errcode = '23514', constraint = 'run_lineage';
  end if;
  return new;
end $$;
create trigger run_born before insert on approvals_run for each row execute function run_born();

create function run_identity_fixed() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if (new.id, new.workspace_id, new.runtime_id, new.external_id, new.agent, new.session_id, new.subject, new.trigger,
      new.input_payload_id, new.input_hash, new.body_digest, new.replay_of_id, new.lineage_id, new.created_at)
     is distinct from
     (old.id, old.workspace_id, old.runtime_id, old.external_id, old.agent, old.session_id, old.subject, old.trigger,
      old.input_payload_id, old.input_hash, old.body_digest, old.replay_of_id, old.lineage_id, old.created_at) then
    raise exception 'what a run is never changes' using errcode = '23514', constraint = 'run_identity';
  end if;
  return new;
end $$;
create trigger run_identity before update on approvals_run for each row execute function run_identity_fixed();

-- Late: received after the record was settled, after the run was interrupted, for a run that was never handed over,
-- or after a replay of it began. Locks first and looks then: a statement that waits for a lock would still answer
-- from what it saw before. The lineage's lock is the one under which a replay is handed over, so either the event is
-- seen there, or the replay here. The run's makes the sweep and a second batch wait.
create function event_received() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform from public.approvals_run root where root.workspace_id = new.workspace_id and root.id = (
    select r.lineage_id from public.approvals_run r where r.workspace_id = new.workspace_id and r.id = new.run_id)
    for no key update;
  perform from public.approvals_run r where r.workspace_id = new.workspace_id and r.id = new.run_id for no key update;
  select r.settled_at is not null or r.status = 'interrupted'
         or (r.status = 'cancelled' and r.ended_at is null)
         or exists (select from public.approvals_run later where later.workspace_id = r.workspace_id
                    and later.replay_of_id = r.id and later.started_at is not null)
    into strict new.late
    from public.approvals_run r
    where r.workspace_id = new.workspace_id and r.id = new.run_id;
  new.received_at := clock_timestamp();
  return new;
end $$;
create trigger event_received before insert on approvals_event for each row execute function event_received();

create function journal_advanced() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  touched record;
  run public.approvals_run;
  missing integer;
  ended_as text;
  now_is timestamptz := clock_timestamp();
begin
  for touched in select a.workspace_id, a.run_id, max(a.seq) as max_seq from added a group by 1, 2 loop
    select * into strict run from public.approvals_run r
      where r.workspace_id = touched.workspace_id and r.id = touched.run_id for no key update;
    -- The lowest missing number: the first event from the old one on without a successor.
    select min(s.seq) + 1 into missing from (
      select run.next_seq - 1 as seq union all
      select e.seq from public.approvals_event e
        where e.workspace_id = run.workspace_id and e.run_id = run.id and e.seq >= run.next_seq) s
      where not exists (select from public.approvals_event n
        where n.workspace_id = run.workspace_id and n.run_id = run.id and n.seq = s.seq + 1);
    ended_as := null;
    if run.status = 'running' or (run.status = 'interrupted' and not exists (
         select from public.approvals_run later where later.workspace_id = run.workspace_id
           and later.replay_of_id = run.id and later.started_at is not null)) then
      select a.outcome into ended_as from added a
        where a.run_id = run.id and a.type = 'ended' order by a.seq limit 1;
    end if;
    update public.approvals_run r set
      next_seq = missing,
      max_seq = greatest(r.max_seq, touched.max_seq),
      last_event_at = now_is,
      started_at = coalesce(r.started_at, now_is),
      status = coalesce(ended_as, r.status),
      ended_at = case when ended_as is null then r.ended_at else now_is end,
      silent_after = case when r.status = 'running' and ended_as is null
        then now_is + make_interval(secs => t.silence_s) end,
      overlong_after = case when r.status = 'running' and ended_as is null
        then coalesce(r.overlong_after, now_is + make_interval(secs => t.time_limit_s)) end
      from public.approvals_runtime t
      where r.id = run.id and r.workspace_id = run.workspace_id
        and t.workspace_id = r.workspace_id and t.id = r.runtime_id;
    insert into public.approvals_runtool (workspace_id, run_id, lineage_id, name)
      select distinct a.workspace_id, a.run_id, run.lineage_id, a.name
      from added a where a.run_id = run.id and a.type = 'tool_call'
      on conflict do nothing;
    -- Only a complete journal can settle; asking each time would read a long one again for every event.
    if run.settled_at is null and missing > greatest(run.max_seq, touched.max_seq) and exists (
         select from public.approvals_event e
         where e.workspace_id = run.workspace_id and e.run_id = run.id and e.type = 'ended') then
      perform public.settle_run(run.workspace_id, run.id);
    end if;
  end loop;
  return null;
end $$;
create trigger journal_advanced after insert on approvals_event referencing new table as added
  for each statement execute function journal_advanced();

-- Whether a repeated event carries the same payload, without letting the asker read any.
create function payload_matches(of_workspace uuid, of_run uuid, of_seq integer, candidate text) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select case
    when e.payload_id is null then candidate is null
    when p.id is null then candidate is not null  -- erased: nothing is left to compare with
    else candidate is not null and sha256(p.salt || convert_to(candidate, 'UTF8')) = e.payload_hash end
  from public.approvals_event e
  left join public.approvals_payload p on p.workspace_id = e.workspace_id and p.id = e.payload_id
  where e.workspace_id = of_workspace and e.run_id = of_run and e.seq = of_seq
    and e.workspace_id = current_setting('app.workspace_id')::uuid
    and exists (select from public.approvals_run r where r.workspace_id = e.workspace_id and r.id = e.run_id
                and current_setting('app.subject') in ('', r.subject))
$$;
