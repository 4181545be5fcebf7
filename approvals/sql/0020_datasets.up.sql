-- Audiences imported from files, and the list of who is not to be written to.

-- A new key looks at both tables, and so under row-level security: of no workspace, where these have no rows yet.
select set_config('app.workspace_id', '00000000-0000-0000-0000-000000000000', true);
alter table approvals_dataset add constraint dataset_runtime_same_workspace
  foreign key (workspace_id, runtime_id) references approvals_runtime (workspace_id, id);
do $$ declare noun text; begin
  foreach noun in array array['dataset','datasetrow','suppression'] loop
    execute format('alter table approvals_%s enable row level security', noun);
    execute format('alter table approvals_%s force row level security', noun);
    execute format($policy$
      create policy workspace on approvals_%s to @prefix@_owner, @prefix@_app, @prefix@_ingest
        using (workspace_id = (select current_setting('app.workspace_id')::uuid))
        with check (workspace_id = (select current_setting('app.workspace_id')::uuid))$policy$, noun);
  end loop;
end $$;

alter table approvals_dataset add constraint dataset_sha256_is_hex check (sha256 ~ '^[0-9a-f]{64}$');
-- Nothing is silently dropped.
alter table approvals_dataset add constraint dataset_adds_up check (ended_at is null or trouble <> ''
  or (total is not null and total = addressable + duplicate + suppressed + refused));
alter table approvals_datasetrow add constraint datasetrow_state_known
  check (state in ('addressable','duplicate','suppressed','refused') and (state = 'addressable') = (reason = ''));
alter table approvals_datasetrow add constraint datasetrow_addressed
  check ((state <> 'refused') = (address <> '') and dedupe_key = lower(address collate "C"));
alter table approvals_suppression add constraint suppression_reason_known
  check (reason in ('unsubscribed','bounced','complained','by_hand'));
alter table approvals_suppression add constraint suppression_key_is_normal
  check (dedupe_key <> '' and dedupe_key = lower(dedupe_key));

-- A dataset that has ended never changes. It ends with every row of its file, or in trouble with none.
create function refuse_change_of_dataset() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare there record;
begin
  if old.ended_at is not null then
    raise exception 'dataset % is over', old.id using errcode = '23514', constraint = 'dataset_over';
  end if;
  if new.ended_at is not null then
    select count(*) filter (where r.state = 'addressable') as addressable,
      count(*) filter (where r.state = 'duplicate') as duplicate,
      count(*) filter (where r.state = 'suppressed') as suppressed,
      count(*) filter (where r.state = 'refused') as refused into there
      from public.approvals_datasetrow r where r.workspace_id = new.workspace_id and r.dataset_id = new.id;
    if (there.addressable, there.duplicate, there.suppressed, there.refused)
       <> (new.addressable, new.duplicate, new.suppressed, new.refused)
       or (new.trouble <> '' and there.addressable + there.duplicate + there.suppressed + there.refused > 0) then
      raise exception 'dataset % would end with other rows than it says', new.id
        using errcode = '23514', constraint = 'dataset_over';
    end if;
  end if;
  return new;
end $$;
create trigger dataset_over before update on approvals_dataset for each row
  execute function refuse_change_of_dataset();

-- Stands in for a foreign key too: asked once a statement, not once a row.
create function refuse_rows_of_dataset() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare given record;
begin
  for given in select distinct a.workspace_id, a.dataset_id from added a loop
    -- The lock waits for an ending in progress and then sees it.
    perform from public.approvals_dataset d where d.workspace_id = given.workspace_id and d.id = given.dataset_id
      for share;
    if not exists (select from public.approvals_dataset d where d.workspace_id = given.workspace_id
                   and d.id = given.dataset_id and d.ended_at is null) then
      raise exception 'dataset % takes no rows', given.dataset_id
        using errcode = '23514', constraint = 'datasetrow_of_an_open_dataset';
    end if;
  end loop;
  return null;
end $$;
create trigger datasetrow_of_an_open_dataset after insert on approvals_datasetrow referencing new table as added
  for each statement execute function refuse_rows_of_dataset();
create trigger datasetrow_kept before delete on approvals_datasetrow for each row execute function refuse_change();

-- Whoever was released is suppressed anew by another row, so that the list tells what was so and when.
create function refuse_change_of_suppression() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if old.released_at is not null
     or (to_jsonb(new) - 'released_at') is distinct from (to_jsonb(old) - 'released_at') then
    raise exception 'a suppression is only ever released' using errcode = '23514', constraint = 'suppression_only_released';
  end if;
  return new;
end $$;
create trigger suppression_only_released before update on approvals_suppression for each row
  execute function refuse_change_of_suppression();
create trigger suppression_kept before delete on approvals_suppression for each row execute function refuse_change();

-- A recipient in the list of a version may be suppressed when the version is made.
alter table approvals_audiencerow drop constraint audience_state_known, add constraint audience_state_known
  check (state in ('addressable','duplicate','suppressed','refused') and (state = 'addressable' or reason <> ''));

-- Wakes the dispatcher.
create function dataset_added() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_notify('due', new.workspace_id::text || ' ' || new.id::text || ' import ' || new.fence::text);
  return null;
end $$;
create trigger dataset_added after insert on approvals_dataset for each row execute function dataset_added();

-- The datasets that wait for a worker, or lost theirs; and the workspace of a delivery, for whoever holds its token.
create policy sweep on approvals_dataset for select to @prefix@_sweep using (true);
create policy sweep on approvals_delivery for select to @prefix@_sweep using (true);
create function due_imports(at_most integer)
returns table (what text, workspace_id uuid, id uuid, kind text, fence bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select 'wake', d.workspace_id, d.id, 'import', d.fence from public.approvals_dataset d
  where d.ended_at is null and d.due_at <= now() and (d.lease_until is null or d.lease_until < now())
  order by d.due_at limit at_most
$$;
create function home_of_delivery(of_delivery uuid) returns uuid
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select d.workspace_id from public.approvals_delivery d where d.id = of_delivery
$$;
grant create on schema public to @prefix@_sweep;
alter function due_imports(integer) owner to @prefix@_sweep;
alter function home_of_delivery(uuid) owner to @prefix@_sweep;
revoke create on schema public from @prefix@_sweep;
