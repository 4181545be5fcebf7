-- What else of a person can be erased (by the owner): the rows of imported lists and the file they came from, the address
-- of somebody who was never written to, and that of a suppression which was released.

-- A row of a list is emptied, as one of an audience is; what became of it, and the counts of its list, stay.
alter table approvals_datasetrow drop constraint datasetrow_addressed, add constraint datasetrow_addressed
  check (erased_at is not null
         or ((state <> 'refused') = (address <> '') and dedupe_key = lower(address collate "C")));
alter table approvals_datasetrow add constraint datasetrow_erased_is_empty
  check (erased_at is null or (email = '' and address = '' and dedupe_key = '' and vars = '{}' and unfit = ''));
create function refuse_all_but_erasure_of_row() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare emptied constant text[] := array['erased_at','email','address','dedupe_key','vars','unfit'];
begin
  if old.erased_at is not null or new.erased_at is null
     or (to_jsonb(new) - emptied) is distinct from (to_jsonb(old) - emptied) then
    raise exception 'UPDATE on approvals_datasetrow is refused: a row of a list is only ever erased'
      using errcode = '42501';
  end if;
  return new;
end $$;
create trigger datasetrow_only_erased before update on approvals_datasetrow
  for each row execute function refuse_all_but_erasure_of_row();

-- A list that is over changes in one way: its file is not needed any more, and may be taken away for good.
alter table approvals_dataset add constraint dataset_file_erased_once_over
  check (file_erased_at is null or ended_at is not null);
create or replace function refuse_change_of_dataset() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare there record;
begin
  if old.ended_at is not null then
    if old.file_erased_at is null and new.file_erased_at is not null
       and (to_jsonb(new) - 'file_erased_at') = (to_jsonb(old) - 'file_erased_at') then
      return new;
    end if;
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

-- To whom a delivery goes never changes. Of somebody whose message never began it may be erased with their row; its id
-- takes the place of the key, which has to be there once a version.
create function refuse_other_recipient() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if (new.address, new.dedupe_key) is not distinct from (old.address, old.dedupe_key)
     or (new.address = '' and new.dedupe_key = new.id::text and new.state = 'skipped' and new.attempted_at is null
         and (to_jsonb(new) - array['address','dedupe_key']) = (to_jsonb(old) - array['address','dedupe_key'])
         and exists (select from public.approvals_audiencerow a where a.workspace_id = new.workspace_id
                     and a.id = new.audience_row_id and a.erased_at is not null)) then
    return new;
  end if;
  raise exception 'delivery % goes to whom it was sealed for', old.id
    using errcode = '23514', constraint = 'delivery_keeps_its_recipient';
end $$;
create trigger delivery_keeps_its_recipient before update of address, dedupe_key on approvals_delivery
  for each row execute function refuse_other_recipient();

-- An entry that holds keeps its address, or nobody could hold to it; one that was released needs it no more.
alter table approvals_suppression drop constraint suppression_key_is_normal, add constraint suppression_key_is_normal
  check ((dedupe_key <> '' or released_at is not null) and dedupe_key = lower(dedupe_key));
create or replace function refuse_change_of_suppression() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if old.released_at is not null and new.dedupe_key = ''
     and (to_jsonb(new) - 'dedupe_key') = (to_jsonb(old) - 'dedupe_key') then
    return new;
  end if;
  if old.released_at is not null
     or (to_jsonb(new) - 'released_at') is distinct from (to_jsonb(old) - 'released_at') then
    raise exception 'a suppression is only ever released' using errcode = '23514', constraint = 'suppression_only_released';
  end if;
  return new;
end $$;
