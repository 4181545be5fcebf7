-- Anchors: hashes of the log that are kept outside of this database, so that a cut tail or a log written anew shows.

create index decision_anchor on approvals_decision (at) where seq % 1000 = 0;
create index decision_log_verified on approvals_decision (workspace_id, seq) where kind = 'log_verified';

create policy sweep on approvals_decision for select to @prefix@_sweep using (true);

-- Every 1,000th entry of every log, from a moment on.
create function log_anchors(since timestamptz)
returns table (workspace_id uuid, slug text, seq bigint, hash bytea, at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select d.workspace_id, w.slug, d.seq, d.hash, d.at from public.approvals_decision d
  join public.approvals_workspace w on w.id = d.workspace_id
  where d.seq % 1000 = 0 and d.at >= since order by d.at
$$;

-- The last entry of every log; at which number it was verified last, and when, or since when it is to be verified.
create function log_heads()
returns table (workspace_id uuid, slug text, seq bigint, hash bytea, verified_seq bigint, verified_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select w.id, w.slug, head.seq, head.hash, coalesce(verified.seq, 0), coalesce(verified.at, w.created_at)
  from public.approvals_workspace w
  cross join lateral (select d.seq, d.hash from public.approvals_decision d
    where d.workspace_id = w.id order by d.seq desc limit 1) head
  left join lateral (select d.seq, d.at from public.approvals_decision d
    where d.workspace_id = w.id and d.kind = 'log_verified' order by d.seq desc limit 1) verified on true
  order by w.slug
$$;

grant create on schema public to @prefix@_sweep;
alter function log_anchors(timestamptz) owner to @prefix@_sweep;
alter function log_heads() owner to @prefix@_sweep;
revoke create on schema public from @prefix@_sweep;

-- The same hash as before, seven times as fast: a function that calls another one for each field could check no more
-- than 3,400 entries a second. rules/verify_log computes it too.
create or replace function decision_hash(entry approvals_decision) returns bytea
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  field text;
  fields text := '';
begin
  foreach field in array array[
    entry.workspace_id::text, entry.seq::text, entry.id::text, public.hashed_time(entry.at),
    entry.kind, entry.actor_kind, entry.actor_id, entry.actor_name, array_to_string(entry.actor_roles, ','),
    entry.sign_in, public.hashed_time(entry.opened_at), entry.target_kind, entry.target_id::text,
    entry.item_id::text, entry.agent, entry.subject, entry.digest,
    entry.payload_id::text, encode(entry.payload_hash, 'hex')] loop
    -- As hashed_field: the length in bytes, a colon, the text; "-" for null.
    fields := fields || coalesce(octet_length(convert_to(field, 'UTF8'))::text || ':' || field, '-');
  end loop;
  return sha256(entry.prev_hash || convert_to(fields, 'UTF8'));
end $$;
