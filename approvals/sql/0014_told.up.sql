-- A job's end is told by its own transaction, whenever that began.

-- An entry that another transaction wrote while this one was open is younger than this one too, and about another end.
-- What can be seen although its transaction is still in progress was written by this one, or by a savepoint of it:
-- those have later numbers. A row shows 32 bits of such a number.
create or replace function job_end_is_told() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  here bigint := pg_current_xact_id()::text::bigint;
begin
  if not exists (select from public.approvals_decision d,
        lateral (select (d.xmin::text::bigint - here % 4294967296 + 4294967296) % 4294967296 as later) own
      where d.workspace_id = new.workspace_id and d.target_id = new.id and d.at >= now()
        and case when own.later < 2147483648 then pg_xact_status((here + own.later)::text::xid8) = 'in progress' end
        and d.target_kind = 'job' and d.kind in ('outcome', 'resolve_run', 'replay_again')) then
    raise exception 'job % is % and the log does not say so', new.id, new.status
      using errcode = '23514', constraint = 'job_end_is_told';
  end if;
  return null;
end $$;

-- decision_hash does without it since 0011_anchors.
drop function hashed_field(text);
