-- The records of many runs at once: a page of the queue shows fifty, and asking for each by itself took longer than
-- everything else on it. `run_record` stays, as the same question about one. Materialized: the planner, which expects
-- a single run, would otherwise work each part out again for every one of them.

create function run_records(of_workspace uuid, of_runs uuid[])
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
      bool_or(e.type = 'ended') as ended,
      bool_or(e.origin = 'restored') as restored,
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
      coalesce(s.ended, false) as ended, coalesce(s.restored, false) as restored,
      coalesce(s.reported, false) as reported, coalesce(s.erased, false) as erased,
      coalesce(s.altered, false) as altered,
      -- Whoever can switch triggers off can take events away or rewrite them. What the run itself remembers has to fit.
      coalesce(s.without_gap, 0) <> a.next_seq - 1 or a.id in (select lost.id from lost) as robbed
    from asked a left join seen s on s.run_id = a.id
  ), judged as (
    select id, ended and gapless as complete,
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
  select id, case when why in ('called', 'none') then why else 'unknown' end, complete, why from judged
$$;

create or replace function run_record(of_workspace uuid, of_run uuid, out kind text, out complete boolean, out why text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select r.kind, r.complete, r.why from public.run_records(of_workspace, array[of_run]) r
$$;
