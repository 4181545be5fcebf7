-- What the runtimes are told of the campaigns that they proposed.

-- A new key looks at both tables, and so under row-level security: of no workspace, where these have no rows yet.
select set_config('app.workspace_id', '00000000-0000-0000-0000-000000000000', true);
alter table approvals_callback add constraint callback_campaign_same_workspace
  foreign key (workspace_id, campaign_id) references approvals_campaign (workspace_id, id);
-- The decision is inserted last (its chain lock is short), so its news wait for it until the commit.
alter table approvals_callback add constraint callback_decision_same_workspace
  foreign key (workspace_id, decision_id) references approvals_decision (workspace_id, id)
  deferrable initially deferred;
alter table approvals_callback enable row level security;
alter table approvals_callback force row level security;
create policy workspace on approvals_callback to @prefix@_owner, @prefix@_app, @prefix@_ingest
  using (workspace_id = (select current_setting('app.workspace_id')::uuid))
  with check (workspace_id = (select current_setting('app.workspace_id')::uuid));

alter table approvals_callback add constraint callback_status_known
  check (status in ('waiting','told','given_up'));
alter table approvals_callback add constraint callback_told_at_a_time
  check ((status = 'told') = (told_at is not null));
alter table approvals_callback add constraint callback_lease_only_while_waiting
  check (lease_until is null or status = 'waiting');

-- As in rules/states.py; a test compares the two.
create or replace function transition_allowed(machine text, old_state text, new_state text) returns boolean
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
    ('job','held','paused'), ('job','queued','paused'), ('job','running','paused'),
    ('job','paused','queued'), ('job','paused','cancelled'), ('job','paused','running'),
    ('campaign','pending','approved'), ('campaign','pending','rejected'), ('campaign','pending','returned'),
    ('campaign','returned','pending'), ('campaign','returned','rejected'),
    ('campaign','approved','pending'), ('campaign','approved','sending'),
    ('campaign','sending','finished'), ('campaign','sending','stopped'), ('campaign','sending','paused'),
    ('campaign','sending','pending'),
    ('campaign','paused','sending'), ('campaign','paused','finished'), ('campaign','paused','stopped'),
    ('campaign','paused','pending'),
    ('campaign','stopped','pending'),
    ('delivery','planned','attempting'), ('delivery','planned','skipped'),
    ('delivery','attempting','sent'), ('delivery','attempting','failed'),
    ('delivery','attempting','in_doubt'), ('delivery','attempting','planned'),
    ('delivery','in_doubt','sent'), ('delivery','in_doubt','planned'),
    ('delivery','failed','planned'),
    ('callback','waiting','told'), ('callback','waiting','given_up'),
    ('callback','given_up','waiting')
  ) as allowed (m, o, n) where m = machine and o = old_state and n = new_state)
$$;
create trigger callback_transition before update on approvals_callback for each row
  when (old.status is distinct from new.status) execute function refuse_illegal_transition('callback', 'status');
create trigger callback_born before insert on approvals_callback for each row
  execute function refuse_illegal_birth('callback', 'status', 'waiting');
create trigger callback_kept before delete on approvals_callback for each row execute function refuse_change();

-- Whoever knows a runtime's secret can speak to it in our name, so the one that its people were given stays.
create function refuse_another_secret() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if old.signing_secret <> ''::bytea and new.signing_secret <> old.signing_secret then
    raise exception 'the signing secret of a runtime is set once'
      using errcode = '23514', constraint = 'runtime_secret_once';
  end if;
  return new;
end $$;
create trigger runtime_secret_once before update on approvals_runtime for each row
  execute function refuse_another_secret();

-- Wakes the dispatcher.
create function callback_added() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_notify('due', new.workspace_id::text || ' ' || new.id::text || ' callback ' || new.fence::text);
  return null;
end $$;
create trigger callback_added after insert on approvals_callback for each row execute function callback_added();

-- The callbacks that wait for a worker, or lost theirs: of each campaign the first.
create policy sweep on approvals_callback for select to @prefix@_sweep using (true);
create function due_callbacks(at_most integer)
returns table (what text, workspace_id uuid, id uuid, kind text, fence bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select 'wake', c.workspace_id, c.id, 'callback', c.fence from public.approvals_callback c
  where c.status = 'waiting' and c.due_at <= now() and (c.lease_until is null or c.lease_until < now())
    and not exists (select from public.approvals_callback b where b.workspace_id = c.workspace_id
                    and b.campaign_id = c.campaign_id and b.number < c.number and b.status = 'waiting')
  order by c.due_at limit at_most
$$;
grant create on schema public to @prefix@_sweep;
alter function due_callbacks(integer) owner to @prefix@_sweep;
revoke create on schema public from @prefix@_sweep;
