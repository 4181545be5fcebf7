-- Calls of tools that an admin declared as campaigns.

-- A new key looks at both tables, and so under row-level security: of no workspace, where these have no rows yet.
select set_config('app.workspace_id', '00000000-0000-0000-0000-000000000000', true);
alter table approvals_calledcampaign add constraint calledcampaign_event_same_run
  foreign key (workspace_id, run_id, seq) references approvals_event (workspace_id, run_id, seq);
alter table approvals_calledcampaign add constraint calledcampaign_version_same_workspace
  foreign key (workspace_id, version_id) references approvals_version (workspace_id, id);
alter table approvals_calledcampaign enable row level security;
alter table approvals_calledcampaign force row level security;
create policy workspace on approvals_calledcampaign to @prefix@_owner, @prefix@_app, @prefix@_ingest
  using (workspace_id = (select current_setting('app.workspace_id')::uuid))
  with check (workspace_id = (select current_setting('app.workspace_id')::uuid));
alter table approvals_calledcampaign add constraint calledcampaign_state_known check (
  case state
    when 'pending' then (version_id, why_payload_id, settled_at, ordinal) is null
    when 'proposed' then version_id is not null and why_payload_id is null and settled_at is not null
      and ordinal is not null
    when 'refused' then version_id is null and why_payload_id is not null and settled_at is not null
    else false
  end);

-- The log may say that an agent's call made a version.
alter table approvals_decision drop constraint decision_actor_known, add constraint decision_actor_known
  check (actor_kind in ('member','rule','token','operator','system','run'));

-- In the statement that writes the call down: so no such call is without its row, and none has two. What a run did not
-- live through itself proposes nothing.
create function campaign_called() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare ready record;
begin
  insert into public.approvals_calledcampaign (workspace_id, run_id, seq, tool, by_subject)
    select a.workspace_id, a.run_id, a.seq, a.name, current_setting('app.subject') <> ''
    from added a
    join public.approvals_run r on r.workspace_id = a.workspace_id and r.id = a.run_id
    join public.approvals_runtime t on t.workspace_id = r.workspace_id and t.id = r.runtime_id
    where a.type = 'tool_call' and a.origin = 'live' and a.name = any (t.campaign_tools);
  if found then
    for ready in select c.workspace_id, c.run_id, max(c.seq) as seq from public.approvals_calledcampaign c
        join public.approvals_run r on r.workspace_id = c.workspace_id and r.id = c.run_id
        join added a on a.workspace_id = c.workspace_id and a.run_id = c.run_id and a.seq = c.seq
        where r.next_seq > c.seq or r.status <> 'running' group by 1, 2 loop
      perform pg_notify('due', ready.workspace_id::text || ' ' || ready.run_id::text || ' propose '
                               || ready.seq::text);
    end loop;
  end if;
  return null;
end $$;
-- After journal_advanced, by their names: that moves the run on first.
create trigger journal_calls after insert on approvals_event referencing new table as added
  for each statement execute function campaign_called();

create function refuse_change_of_called() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception 'what became of call % of run % is settled', old.seq, old.run_id
    using errcode = '23514', constraint = 'calledcampaign_settled';
end $$;
create trigger calledcampaign_settled before update on approvals_calledcampaign for each row
  when (old.state <> 'pending') execute function refuse_change_of_called();
create trigger calledcampaign_kept before delete on approvals_calledcampaign for each row
  execute function refuse_change();

-- The runs with calls to be seen to. A call waits until everything before it is there, or its run is over.
create policy sweep on approvals_calledcampaign for select to @prefix@_sweep using (true);
create function due_calls(at_most integer)
returns table (what text, workspace_id uuid, id uuid, kind text, fence bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select 'wake', c.workspace_id, c.run_id, 'propose', max(c.seq)::bigint
  from public.approvals_calledcampaign c
  join public.approvals_run r on r.workspace_id = c.workspace_id and r.id = c.run_id
  where c.state = 'pending' and (r.next_seq > c.seq or r.status <> 'running')
  group by c.workspace_id, c.run_id order by min(c.id) limit at_most
$$;
grant create on schema public to @prefix@_sweep;
alter function due_calls(integer) owner to @prefix@_sweep;
revoke create on schema public from @prefix@_sweep;
