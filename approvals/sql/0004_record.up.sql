-- The record: what a run is known to have called, derived from its journal inside Postgres.

-- What the events of calls are about. An agent may use a call id again: the second call is one of its own, and a result
-- belongs to the last call before it.
create view approvals_callevent with (security_invoker = true, security_barrier = true) as
  select e.workspace_id, e.run_id, e.seq, e.type, e.at, e.name, e.is_error, e.provenance, e.late, e.payload_id,
    e.call_id || case when e.nth > 1 then ' #' || e.nth else '' end as call_id
  from (
    select e.*, count(*) filter (where e.type = 'tool_call')
      over (partition by e.workspace_id, e.run_id, e.call_id order by e.seq) as nth
    from approvals_event e where e.type in ('tool_call', 'tool_result')
  ) e;

create view approvals_toolcall with (security_invoker = true, security_barrier = true) as
  select e.workspace_id, e.run_id, e.call_id,
    coalesce((array_agg(e.name order by e.seq) filter (where e.type = 'tool_call'))[1], '') as name,
    case
      when not bool_or(e.type = 'tool_call') then 'supplied'
      when bool_or(e.type = 'tool_result' and not e.is_error) then 'answered'
      when bool_or(e.type = 'tool_result') then 'failed'
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
  group by e.workspace_id, e.run_id, e.call_id;

-- kind none | called | unknown; complete: end seen and no gap; why: one word for the sentence people read.
create function run_record(of_workspace uuid, of_run uuid, out kind text, out complete boolean, out why text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with seen as (
    select
      count(*) filter (where e.type in ('tool_call', 'tool_result')) as calls,
      coalesce(bool_or(e.type = 'ended'), false) as ended,
      coalesce(bool_or(e.origin = 'restored'), false) as restored,
      coalesce(bool_or(e.provenance = 'reported'), false) as reported,
      coalesce(bool_or(e.payload_id is not null and p.id is null), false) as erased,
      coalesce(bool_or(p.id is not null
        and sha256(p.salt || convert_to(p.body, 'UTF8')) is distinct from e.payload_hash), false) as altered
    from public.approvals_event e
    left join public.approvals_payload p on p.workspace_id = e.workspace_id and p.id = e.payload_id
    where e.workspace_id = of_workspace and e.run_id = of_run
  ), facts as (
    select seen.*, t.writes_ahead, r.next_seq = r.max_seq + 1 as gapless,
      -- Whoever can switch triggers off can take events away or rewrite them. What the run itself remembers has to fit.
      (select count(*) from public.approvals_event e where e.workspace_id = of_workspace and e.run_id = of_run
         and e.seq < r.next_seq) <> r.next_seq - 1
      or exists (
        select c.call_id, c.name from jsonb_to_recordset(r.tools_executed) as c (call_id text, name text)
        except select c.call_id, c.name from public.approvals_toolcall c
          where c.workspace_id = of_workspace and c.run_id = of_run) as robbed
    from public.approvals_run r
    join public.approvals_runtime t on t.workspace_id = r.workspace_id and t.id = r.runtime_id, seen
    where r.workspace_id = of_workspace and r.id = of_run
  ), judged as (
    select ended and gapless as complete,
      case
        when restored then 'restored'
        when altered or robbed then 'altered'
        when erased then 'erased'
        when calls > 0 then 'called'
        when not gapless then 'gap'
        when not ended then 'no_end'
        when reported and not writes_ahead then 'merely_reported'
        else 'none'
      end as why
    from facts
  )
  select case when why in ('called', 'none') then why else 'unknown' end, complete, why from judged
$$;

create function tools_executed_write_once() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if old.tools_executed is not null and new.tools_executed is distinct from old.tools_executed then
    raise exception 'the record of run % is settled', old.id
      using errcode = '23514', constraint = 'tools_executed_write_once';
  end if;
  if old.settled_at is not null and new.settled_at is distinct from old.settled_at then
    raise exception 'the record of run % is settled', old.id
      using errcode = '23514', constraint = 'tools_executed_write_once';
  end if;
  return new;
end $$;
create trigger tools_executed_write_once before update on approvals_run
  for each row execute function tools_executed_write_once();

-- Writes the record once it is complete or provably none. Raises unless it sees the run: under forced row security
-- a function that sees nothing would otherwise settle a false "none".
create function settle_run(of_workspace uuid, of_run uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  record_now record;
begin
  perform from public.approvals_run r where r.workspace_id = of_workspace and r.id = of_run for no key update;
  if not found then
    raise exception 'settle_run does not see run %', of_run using errcode = '42501';
  end if;
  select * into record_now from public.run_record(of_workspace, of_run);
  if record_now.kind is null then
    raise exception 'settle_run cannot derive the record of run %', of_run using errcode = '42501';
  end if;
  if record_now.kind = 'none' or (record_now.kind = 'called' and record_now.complete) then
    update public.approvals_run r set
      tools_executed = (select coalesce(jsonb_agg(jsonb_build_object('call_id', c.call_id, 'name', c.name)
                                        order by c.seq), '[]'::jsonb)
                        from public.approvals_toolcall c
                        where c.workspace_id = of_workspace and c.run_id = of_run),
      settled_at = clock_timestamp()
    where r.workspace_id = of_workspace and r.id = of_run and r.tools_executed is null;
  end if;
end $$;
