-- Runs that are read from their runtime's own store, and streamed by a worker.

-- A new key looks at both tables, and so under row-level security: of no workspace, where these have no rows yet.
select set_config('app.workspace_id', '00000000-0000-0000-0000-000000000000', true);
do $$ declare noun text; begin
  foreach noun in array array['observation','agentsession'] loop
    execute format('alter table approvals_%1$s add constraint %1$s_workspace_id unique (workspace_id, id)', noun);
    execute format($fk$alter table approvals_%1$s add constraint %1$s_runtime_same_workspace
      foreign key (workspace_id, runtime_id) references approvals_runtime (workspace_id, id)$fk$, noun);
  end loop;
end $$;
alter table approvals_storedrow add constraint storedrow_session_same_workspace
  foreign key (workspace_id, session_id) references approvals_agentsession (workspace_id, id);
alter table approvals_storedrow add constraint storedrow_run_same_workspace
  foreign key (workspace_id, run_id) references approvals_run (workspace_id, id);
do $$ declare noun text; begin
  foreach noun in array array['observation','agentsession','storedrow'] loop
    execute format('alter table approvals_%s enable row level security', noun);
    execute format('alter table approvals_%s force row level security', noun);
    execute format($policy$
      create policy workspace on approvals_%s to @prefix@_owner, @prefix@_app, @prefix@_ingest
        using (workspace_id = (select current_setting('app.workspace_id')::uuid))
        with check (workspace_id = (select current_setting('app.workspace_id')::uuid))$policy$, noun);
  end loop;
end $$;
alter table approvals_storedrow add constraint storedrow_digest_is_sha256 check (octet_length(digest) = 32);

alter table approvals_runtime drop constraint runtime_kind_known, add constraint runtime_kind_known
  check (kind in ('http', 'adk'));
alter table approvals_runtime add constraint runtime_store_known
  check ((kind = 'adk') = (octet_length(database_url) > 0));

-- The journal's new words. rules/observed.py has the same ones; a test compares.
alter table approvals_event drop constraint event_type_known, add constraint event_type_known check (type in
  ('heartbeat','message','tool_call','tool_result','node_started','node_finished','ended','finding'));
alter table approvals_event drop constraint event_origin_known, add constraint event_origin_known check (
  case type
    when 'finding' then origin in ('restored','edited','deleted','unreadable','hidden')
    when 'ended' then origin in ('live','restored','inferred')
    else origin in ('live','restored')
  end);
alter table approvals_event drop constraint event_outcome_known, add constraint event_outcome_known check (
  case type
    when 'ended' then outcome is not null and outcome in ('completed','failed','cancelled')
    when 'tool_result' then outcome is null
      or outcome in ('awaiting','rejected','supplied','aborted','withdrawn','replaced')
    else outcome is null
  end);
-- What an agent reports says none of this: it is what we found, and could hide a call.
alter table approvals_event add constraint event_found_by_us check (provenance <> 'reported'
  or (type <> 'finding' and origin <> 'inferred' and (type = 'ended' or outcome is null)));

create or replace view approvals_callevent with (security_invoker = true, security_barrier = true) as
  select e.workspace_id, e.run_id, e.seq, e.type, e.at, e.name, e.is_error, e.provenance, e.late, e.payload_id,
    e.call_id || case when e.nth > 1 then ' #' || e.nth else '' end as call_id, e.outcome
  from (
    select e.*, count(*) filter (where e.type = 'tool_call')
      over (partition by e.workspace_id, e.run_id, e.call_id order by e.seq) as nth
    from approvals_event e where e.type in ('tool_call', 'tool_result')
  ) e;

-- A call that its final form replaced was only announced. An answer without its call is of an earlier attempt's call:
-- given from outside if a runtime merely reports it, and else the tool's own, which ran after somebody confirmed it.
create or replace view approvals_toolcall with (security_invoker = true, security_barrier = true) as
  select e.workspace_id, e.run_id, e.call_id,
    coalesce((array_agg(e.name order by e.seq) filter (where e.type = 'tool_call'))[1],
             (array_agg(e.name order by e.seq) filter (where e.name is not null))[1], '') as name,
    case
      when not bool_or(e.type = 'tool_call') and bool_and(e.provenance = 'reported') then 'supplied'
      when bool_or(e.type = 'tool_result' and e.outcome is null and not e.is_error) then 'answered'
      when bool_or(e.outcome = 'supplied') then 'supplied'
      when bool_or(e.outcome = 'rejected') then 'rejected'
      when bool_or(e.type = 'tool_result' and e.outcome is null) then 'failed'
      when bool_or(e.outcome = 'aborted') then 'aborted'
      when bool_or(e.outcome = 'withdrawn') then 'withdrawn'
      when bool_or(e.outcome = 'awaiting') then 'awaiting'
      else 'open'
    end as state,
    min(e.seq) as seq,
    min(e.at) as at,
    (array_agg(e.provenance order by e.seq))[1] as provenance,
    bool_or(e.late) as late,
    (array_agg(e.payload_id order by e.seq) filter (where e.type = 'tool_call'))[1] as args_payload_id,
    (array_agg(e.payload_id order by e.seq desc) filter (where e.type = 'tool_result'))[1] as result_payload_id,
    max(e.at) filter (where e.type = 'tool_result') as result_at
  from approvals_callevent e
  group by e.workspace_id, e.run_id, e.call_id
  having not coalesce(bool_or(e.outcome = 'replaced'), false);

-- An end that was concluded from the rows proves nothing, and a history that was found wrong is not known.
create or replace function run_records(of_workspace uuid, of_runs uuid[])
returns table (run_id uuid, kind text, complete boolean, why text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with asked as materialized (
    select r.id, r.next_seq, r.max_seq, r.tools_executed, t.writes_ahead
    from public.approvals_run r
    join public.approvals_runtime t on t.workspace_id = r.workspace_id and t.id = r.runtime_id
    where r.workspace_id = of_workspace and r.id = any (of_runs)
  ), seen as materialized (
    select e.run_id,
      count(*) filter (where e.type in ('tool_call', 'tool_result')) as calls,
      bool_or(e.type = 'ended' and e.origin <> 'inferred') as ended,
      bool_or(e.origin = 'inferred') as inferred,
      bool_or(e.origin = 'restored') as restored,
      bool_or(e.origin = 'edited') as edited,
      bool_or(e.origin = 'deleted') as deleted,
      bool_or(e.origin = 'unreadable') as unreadable,
      bool_or(e.origin = 'hidden') as hidden,
      bool_or(e.provenance = 'reported') as reported,
      bool_or(e.payload_id is not null and p.id is null) as erased,
      bool_or(p.id is not null
        and sha256(p.salt || convert_to(p.body, 'UTF8')) is distinct from e.payload_hash) as altered,
      count(*) filter (where e.seq < a.next_seq) as without_gap
    from asked a
    join public.approvals_event e on e.workspace_id = of_workspace and e.run_id = a.id
    left join public.approvals_payload p on p.workspace_id = of_workspace and p.id = e.payload_id
    group by e.run_id
  ), lost as materialized (
    select a.id, c.call_id, c.name
    from asked a, jsonb_to_recordset(a.tools_executed) as c (call_id text, name text)
    except
    select c.run_id, c.call_id, c.name from public.approvals_toolcall c
    where c.workspace_id = of_workspace and c.run_id = any (of_runs)
  ), facts as materialized (
    select a.id, a.writes_ahead, a.next_seq = a.max_seq + 1 as gapless, coalesce(s.calls, 0) as calls,
      coalesce(s.ended, false) as ended, coalesce(s.inferred, false) as inferred,
      coalesce(s.restored, false) as restored, coalesce(s.edited, false) as edited,
      coalesce(s.deleted, false) as deleted, coalesce(s.unreadable, false) as unreadable,
      coalesce(s.hidden, false) as hidden,
      coalesce(s.reported, false) as reported, coalesce(s.erased, false) as erased,
      coalesce(s.altered, false) as altered,
      -- Whoever can switch triggers off can take events away or rewrite them. What the run itself remembers has to fit.
      coalesce(s.without_gap, 0) <> a.next_seq - 1 or a.id in (select lost.id from lost) as robbed
    from asked a left join seen s on s.run_id = a.id
  ), judged as (
    select id, ended and gapless and not hidden as complete,
      case
        when restored then 'restored'
        when altered or robbed then 'altered'
        when edited then 'edited'
        when deleted then 'deleted'
        when unreadable then 'unreadable'
        when erased then 'erased'
        when calls > 0 then 'called'
        when not gapless then 'gap'
        when not ended and not inferred then 'no_end'
        when hidden then 'hidden'
        when not ended then 'end_inferred'
        when reported and not writes_ahead then 'merely_reported'
        else 'none'
      end as why
    from facts
  )
  select id, case when why in ('called', 'none') then why else 'unknown' end, complete, why from judged
$$;

-- As before, but an end that proves nothing settles nothing, and an answer places its lineage anew: a call that waited
-- for a person may wait no longer.
create or replace function journal_advanced() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  touched record;
  run public.approvals_run;
  missing integer;
  ended_as text;
  now_is timestamptz := clock_timestamp();
begin
  for touched in select a.workspace_id, a.run_id, max(a.seq) as max_seq,
      bool_or(a.type = 'tool_result') as answered from added a group by 1, 2 loop
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
    if touched.answered and run.status <> 'running' then
      perform public.place_lineage(run.workspace_id, run.lineage_id);
    end if;
    -- Only a complete journal can settle; asking each time would read a long one again for every event.
    if run.settled_at is null and missing > greatest(run.max_seq, touched.max_seq) and exists (
         select from public.approvals_event e
         where e.workspace_id = run.workspace_id and e.run_id = run.id and e.type = 'ended'
           and e.origin <> 'inferred') then
      perform public.settle_run(run.workspace_id, run.id);
    end if;
  end loop;
  return null;
end $$;

-- As before, and a run that is over because it asks for a confirmation waits for a person.
create or replace function place_lineage(of_workspace uuid, of_lineage uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  root public.approvals_run;
  head public.approvals_run;   -- the last attempt that really began
  last_job public.approvals_job;
  tab text;
  state text;
  since timestamptz;
begin
  select * into strict root from public.approvals_run r where r.workspace_id = of_workspace and r.id = of_lineage;
  select * into head from public.approvals_run r
    where r.workspace_id = of_workspace and r.lineage_id = of_lineage and r.started_at is not null
    order by r.created_at desc, r.id desc limit 1;
  select j.* into last_job from public.approvals_job j
    join public.approvals_run r on r.workspace_id = j.workspace_id and r.id = j.run_id
    where r.workspace_id = of_workspace and r.lineage_id = of_lineage
    order by j.created_at desc, j.id desc limit 1;
  if last_job.status = 'in_doubt' then
    tab := 'decide'; state := 'in_doubt'; since := coalesce(last_job.finished_at, last_job.created_at);
  elsif last_job.status = 'paused' then
    tab := 'decide'; state := 'paused'; since := last_job.due_at;
  elsif last_job.status in ('held', 'queued') then
    tab := 'progress'; state := 'queued'; since := last_job.created_at;
  elsif exists (select from public.approvals_run r where r.workspace_id = of_workspace
                and r.lineage_id = of_lineage and r.status = 'running') then
    tab := 'progress'; state := 'running'; since := coalesce(head.started_at, root.created_at);
  elsif head.status in ('interrupted', 'failed') and head.dismissed_at is null then
    tab := 'decide'; since := coalesce(head.ended_at, head.interrupted_at, head.created_at);
    state := case when last_job.status = 'failed' and last_job.run_id <> head.id then 'replay_failed'
                  else head.status end;
  elsif head.status = 'completed' and head.dismissed_at is null and exists (
      select from public.approvals_event e where e.workspace_id = of_workspace and e.run_id = head.id
        and e.outcome = 'awaiting')
      and exists (select from public.approvals_toolcall c
        where c.workspace_id = of_workspace and c.run_id = head.id and c.state = 'awaiting') then
    tab := 'decide'; state := 'awaiting'; since := coalesce(head.ended_at, head.created_at);
  else
    tab := 'history'; state := case when head.dismissed_at is not null then 'dismissed' else head.status end;
    since := coalesce(head.ended_at, head.interrupted_at, head.created_at);
  end if;
  insert into public.approvals_queueitem as q
      (id, workspace_id, kind, tab, state, run_id, agent, subject, title, since, due)
    values (of_lineage, of_workspace, 'run', tab, state, head.id, root.agent, root.subject, root.external_id,
            since, 'infinity')
  on conflict (id) do update set tab = excluded.tab, state = excluded.state, run_id = excluded.run_id,
    since = excluded.since
  where (q.tab, q.state, q.run_id, q.since) is distinct from
        (excluded.tab, excluded.state, excluded.run_id, excluded.since);
end $$;

-- Answering a run in place releases too: its open calls, or a call that waits for a confirmation.
create or replace function is_releasing(kind text) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select kind in ('replay', 'force_replay', 'replay_again', 'answer_calls', 'confirm_call', 'reject_call', 'approve',
                  'send_again')
$$;

-- What the dispatcher has to do now: also, whose store is to be looked at.
create policy sweep on approvals_observation for select to @prefix@_sweep using (true);
grant create on schema public to @prefix@_sweep;
set role @prefix@_sweep;
create or replace function due(at_most integer) returns table (what text, workspace_id uuid, id uuid, kind text, fence bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  (select 'wake', j.workspace_id, j.id, j.kind, j.fence from public.approvals_job j
    where j.status = 'queued' and j.due_at <= now() order by j.due_at limit at_most)
  union all
  (select 'wake', o.workspace_id, o.runtime_id, 'observe', o.fence from public.approvals_observation o
    where o.due_at <= now() and (o.lease_until is null or o.lease_until < now()) order by o.due_at limit at_most)
  union all
  (select 'release', j.workspace_id, j.id, j.kind, j.fence from public.approvals_job j
    where j.status = 'held' and j.due_at <= now() order by j.due_at limit at_most)
  union all
  (select 'lease', j.workspace_id, j.id, j.kind, j.fence from public.approvals_job j
    where j.status = 'running' and j.lease_until < now() order by j.lease_until limit at_most)
  union all
  (select 'silent', r.workspace_id, r.id, 'run', 0 from public.approvals_run r
    where r.status = 'running' and r.silent_after < now() order by r.silent_after limit at_most)
  union all
  (select 'overlong', r.workspace_id, r.id, 'run', 0 from public.approvals_run r
    where r.status = 'running' and r.overlong_after < now() order by r.overlong_after limit at_most)
  union all
  -- A replay's job follows its run: the first event settles a doubt, the end ends it.
  (select 'follow', j.workspace_id, j.id, j.kind, j.fence from public.approvals_job j
    join public.approvals_run r on r.workspace_id = j.workspace_id and r.id = j.run_id
    where j.kind = 'replay'
      and ((j.status in ('in_doubt', 'paused') and r.max_seq > 0)
           or (j.status = 'running' and j.accepted_at is not null and r.status <> 'running'))
    limit at_most)
$$;
-- How many stores are read, and how many of them could not be for this long: for /readyz.
create function observed_stores(unread_for interval) returns table (observed bigint, unread bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select count(*), count(*) filter (where o.troubled_since < now() - unread_for) from public.approvals_observation o
$$;
reset role;
revoke create on schema public from @prefix@_sweep;
