-- Anchors: hashes of the log that are kept outside of this database, so that a cut tail or a log written anew shows.

-- The product itself writes entries too: that it verified the log, for one.
alter table approvals_decision drop constraint if exists decision_actor_known;
alter table approvals_decision add constraint decision_actor_known
  check (actor_kind in ('member', 'rule', 'token', 'operator', 'system'));

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
