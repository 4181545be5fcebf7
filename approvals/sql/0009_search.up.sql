-- Search without leaks, and a queue whose filters cost the same at any size.
--
-- What can be found stands as words in tables of their own, which triggers fill and which the role search alone reads.
-- A word is found by its beginning, through an index that begins with the workspace: what is common elsewhere costs
-- nothing here, and a search stops after so many hits.

-- A text as the search compares it: one spelling for what looks the same, lower case, white space as one blank.
create function folded(value text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select btrim(regexp_replace(lower(normalize(value, NFKC)),
    '[\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200b\u2028-\u202f\u2060\u3000\ufeff]+', ' ', 'g'))
$$;

-- A piece without blanks, without the marks around it: <a@b.example>, "Berg", (C-17).
create function bare(piece text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select regexp_replace(piece, '^[!-/:-@\[-`{-~\u00a1-\u00bf\u2010-\u205e\u3001-\u3020]+|[!-/:-@\[-`{-~\u00a1-\u00bf\u2010-\u205e\u3001-\u3020]+$',
    '', 'g')
$$;

-- A piece cut where a word begins in it: behind a mark, and at each sign of a script that is written without blanks.
create function cut_into_words(piece text) returns text[]
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select string_to_array(btrim(regexp_replace(regexp_replace(piece,
    '([!-/:-@\[-`{-~\u00a1-\u00bf\u2010-\u205e\u3001-\u3020])(?=[^!-/:-@\[-`{-~\u00a1-\u00bf\u2010-\u205e\u3001-\u3020])',
    '\1' || chr(1), 'g'),
    '([\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff])', chr(1) || '\1', 'g'), chr(1)), chr(1))
$$;

-- The words by which a text is found: from each beginning of a word on to the next blank, 64 characters of it.
-- Mia.Berg@shop.example is found by mia, berg@ and shop.ex; a domain is one word. C-17 is found by 17.
create function words_of(value text) returns text[]
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  piece text;
  address text[];
  cut text[];
  word text;
  found text[] := '{}';
begin
  foreach piece in array string_to_array(public.folded(left(value, 2000)), ' ') loop
    piece := public.bare(piece);
    address := regexp_match(piece, '^(.+@)([^@/]+\.[^@/.0-9]+)$');
    cut := case when address is null then public.cut_into_words(piece)
           else public.cut_into_words(address[1]) || address[2] end;
    word := '';
    for nr in reverse cardinality(cut)..1 loop
      word := left(cut[nr] || word, 64);
      found := found || word;
    end loop;
  end loop;
  return array(select distinct w from unnest(found) w where w <> '');
end $$;

-- What a person typed, as words: six at most, the longest first. Anything may be typed; what is no word is left out.
create function typed_words(typed text) returns text[]
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce(array_agg(word), '{}') from (
    select word from (select distinct left(public.bare(piece), 64) as word
                      from regexp_split_to_table(public.folded(left(typed, 1000)), ' ') as piece) pieces
    where word <> '' order by length(word) desc, word limit 6) words
$$;

-- Behind every word that begins with this one: the last sign there is.
create function last_word(word text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$ select word || chr(1114111) $$;

create table approvals_itemword (
  workspace_id uuid not null,
  item_id uuid not null,
  word text collate "C" not null,
  at timestamptz not null
);
create table approvals_decisionword (
  workspace_id uuid not null,
  decision_id uuid not null,
  word text collate "C" not null,
  at timestamptz not null,
  payload_id uuid  -- the word stands in this payload and nowhere else, and goes with it
);

create function run_findable() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
  insert into public.approvals_itemword (workspace_id, item_id, word, at)
    select distinct new.workspace_id, new.lineage_id, w, new.created_at
    from unnest(public.words_of(new.subject) || public.words_of(new.external_id)) w
    on conflict do nothing;
  return null;
end $$;

create function campaign_findable() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
  insert into public.approvals_itemword (workspace_id, item_id, word, at)
    select distinct new.workspace_id, new.id, w, new.created_at
    from unnest(public.words_of(new.name) || public.words_of(new.external_id)) w
    on conflict do nothing;
  return null;
end $$;

-- What a decider wrote, and what the decision names, out of the text of its payload. A text that is no JSON has none.
create function said_in(body text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare said jsonb := body::jsonb;
begin
  return concat_ws(' ', said ->> 'campaign', said ->> 'run', said ->> 'recipient', said ->> 'email',
                   said ->> 'runtime', said ->> 'name', said ->> 'reason', said ->> 'comment');
exception when data_exception then
  return '';
end $$;

-- Before the chain's lock is taken (triggers fire in the order of their names), so that nobody waits for it.
create function decision_findable() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
  if new.workspace_id = current_setting('app.workspace_id')::uuid then  -- else the policy refuses the row
    insert into public.approvals_decisionword (workspace_id, decision_id, word, at)
      select new.workspace_id, new.id, w, clock_timestamp()
      from unnest(public.words_of(concat_ws(' ', new.actor_name, new.agent, new.subject))) w;
    insert into public.approvals_decisionword (workspace_id, decision_id, word, at, payload_id)
      select new.workspace_id, new.id, w, clock_timestamp(), p.id
      from public.approvals_payload p, unnest(public.words_of(public.said_in(p.body))) w
      where p.workspace_id = new.workspace_id and p.id = new.payload_id
      on conflict do nothing;
  end if;
  return new;
end $$;

-- As whoever erases, who may read and delete what they erase.
create function payload_forgotten() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from public.approvals_decisionword w where w.workspace_id = old.workspace_id and w.payload_id = old.id;
  return null;
end $$;

-- Which tools a lineage called, and where it stands: the tool filter pages over it as the queue does over its items.
alter table approvals_runtool add column tab text, add column since timestamptz, add column due timestamptz;

create function runtool_placed() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from public.approvals_runtool t where t.workspace_id = new.workspace_id
             and t.lineage_id = new.lineage_id and t.name = new.name) then
    return null;
  end if;
  -- The item cannot move until this row is there to move with it.
  select q.tab, q.since, q.due into strict new.tab, new.since, new.due from public.approvals_queueitem q
    where q.workspace_id = new.workspace_id and q.id = new.lineage_id for share;
  return new;
end $$;

create function queueitem_moved() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
  update public.approvals_runtool t set tab = new.tab, since = new.since, due = new.due
    where t.workspace_id = new.workspace_id and t.lineage_id = new.id;
  return null;
end $$;

-- What is there already. Owner is bound to one workspace like everybody, so for this transaction, in which nobody
-- else reaches these tables, it is not.
do $$ declare noun text; begin
  foreach noun in array array['run','campaign','decision','payload','runtool','queueitem'] loop
    execute format('alter table approvals_%s no force row level security', noun);
  end loop;
end $$;
insert into approvals_itemword (workspace_id, item_id, word, at)
  select distinct c.workspace_id, c.id, w, c.created_at from approvals_campaign c,
    unnest(words_of(c.name) || words_of(c.external_id)) w;
insert into approvals_itemword (workspace_id, item_id, word, at)
  select r.workspace_id, r.id, w, r.created_at from approvals_run r,
    lateral (select distinct w from unnest(words_of(r.subject) || words_of(r.external_id)) w) words
  where r.lineage_id = r.id;
alter table approvals_itemword add constraint itemword_once primary key (workspace_id, item_id, word);
insert into approvals_itemword (workspace_id, item_id, word, at)
  select r.workspace_id, r.lineage_id, w, r.created_at from approvals_run r, unnest(words_of(r.external_id)) w
  where r.lineage_id <> r.id
  on conflict do nothing;
insert into approvals_decisionword (workspace_id, decision_id, word, at, payload_id)
  select d.workspace_id, d.id, words.w, d.at, case when words.given then d.payload_id end
  from approvals_decision d
    left join approvals_payload p on p.workspace_id = d.workspace_id and p.id = d.payload_id,
    lateral (select w, bool_and(given) as given from (
      select unnest(words_of(concat_ws(' ', d.actor_name, d.agent, d.subject))) as w, false as given union all
      select unnest(words_of(said_in(p.body))), true) both_of group by w) words;
alter table approvals_decisionword add constraint decisionword_once primary key (workspace_id, decision_id, word);
delete from approvals_runtool t using approvals_runtool earlier
  where earlier.workspace_id = t.workspace_id and earlier.lineage_id = t.lineage_id and earlier.name = t.name
    and earlier.id < t.id;
update approvals_runtool t set tab = q.tab, since = q.since, due = q.due from approvals_queueitem q
  where q.workspace_id = t.workspace_id and q.id = t.lineage_id;
do $$ declare noun text; begin
  foreach noun in array array['run','campaign','decision','payload','runtool','queueitem'] loop
    execute format('alter table approvals_%s force row level security', noun);
  end loop;
end $$;

create index itemword_found on approvals_itemword (workspace_id, word, at desc, item_id);
create index decisionword_found on approvals_decisionword (workspace_id, word, at desc, decision_id);
create index decisionword_payload on approvals_decisionword (workspace_id, payload_id) where payload_id is not null;

alter table approvals_runtool alter column tab set not null, alter column since set not null,
  alter column due set not null, drop constraint run_tool_once,
  add constraint run_tool_once unique (workspace_id, lineage_id, name);

create trigger run_findable after insert on approvals_run for each row execute function run_findable();
create trigger campaign_findable after insert on approvals_campaign for each row execute function campaign_findable();
create trigger decision_becomes_findable before insert on approvals_decision
  for each row execute function decision_findable();
create trigger payload_forgotten after delete on approvals_payload for each row execute function payload_forgotten();
create trigger runtool_placed before insert on approvals_runtool for each row execute function runtool_placed();
create trigger queueitem_moved after update on approvals_queueitem for each row
  when ((old.tab, old.since, old.due) is distinct from (new.tab, new.since, new.due))
  execute function queueitem_moved();

-- Owner's triggers write the words, search reads them, in the bound workspace like everybody else, and nothing for a
-- token that is bound to one subject. Search does not read runs and campaigns any more.
do $$ declare noun text; begin
  foreach noun in array array['itemword','decisionword'] loop
    execute format('alter table approvals_%s enable row level security', noun);
    execute format('alter table approvals_%s force row level security', noun);
    execute format($policy$
      create policy workspace on approvals_%s to @prefix@_owner
        using (workspace_id = (select current_setting('app.workspace_id')::uuid))
        with check (workspace_id = (select current_setting('app.workspace_id')::uuid))$policy$, noun);
  end loop;
  drop policy search on approvals_run;
  drop policy search on approvals_campaign;
  drop policy search on approvals_delivery;
  foreach noun in array array['itemword','decisionword','delivery'] loop
    execute format($policy$
      create policy search on approvals_%s for select to @prefix@_search
        using (workspace_id = (select current_setting('app.workspace_id')::uuid)
               and (select current_setting('app.subject')) = '')$policy$, noun);
  end loop;
end $$;

-- The items in which a word begins like this one, so many of each kind of place: exactly this word and the newest
-- first, then longer ones, then recipients, then Message-IDs (a few of their random letters would be found anywhere).
create function items_with(typed text, at_most integer) returns table (item_id uuid, exact boolean, at timestamptz)
language sql stable set search_path = pg_catalog, pg_temp as $$
  (select w.item_id, true, w.at from public.approvals_itemword w
    where w.workspace_id = current_setting('app.workspace_id')::uuid and w.word = typed
    order by w.at desc, w.item_id limit at_most)
  union all
  (select w.item_id, false, w.at from public.approvals_itemword w
    where w.workspace_id = current_setting('app.workspace_id')::uuid
      and w.word > typed and w.word <= public.last_word(typed) limit at_most)
  union all
  (select d.campaign_id, d.dedupe_key = typed, 'infinity' from public.approvals_delivery d
    where d.workspace_id = current_setting('app.workspace_id')::uuid
      and d.dedupe_key ~>=~ typed and d.dedupe_key ~<=~ public.last_word(typed) limit at_most)
  union all
  (select d.campaign_id, true, 'infinity' from public.approvals_delivery d
    where d.workspace_id = current_setting('app.workspace_id')::uuid and length(typed) >= 16
      and d.message_id ~>=~ ('<' || split_part(typed, '@', 1))
      and d.message_id ~<=~ public.last_word('<' || split_part(typed, '@', 1))
      and starts_with(lower(d.message_id), '<' || typed) limit at_most)
$$;

create function decisions_with(typed text, at_most integer)
returns table (decision_id uuid, exact boolean, at timestamptz)
language sql stable set search_path = pg_catalog, pg_temp as $$
  (select w.decision_id, true, w.at from public.approvals_decisionword w
    where w.workspace_id = current_setting('app.workspace_id')::uuid and w.word = typed
    order by w.at desc, w.decision_id limit at_most)
  union all
  (select w.decision_id, false, w.at from public.approvals_decisionword w
    where w.workspace_id = current_setting('app.workspace_id')::uuid
      and w.word > typed and w.word <= public.last_word(typed) limit at_most)
$$;

-- A function is handed to a role, and replaced by it, while that role may create in the schema: for just this moment.
grant create on schema public to @prefix@_search;
alter function items_with(text, integer) owner to @prefix@_search;
alter function decisions_with(text, integer) owner to @prefix@_search;
set role @prefix@_search;

-- The items of the bound workspace in which all the words occur: customers, ids, names of campaigns, recipients,
-- Message-IDs. The rarest word is looked for and the others are asked for in what it found; null at the end says that
-- it was too common to be looked at as a whole.
create or replace function search_items(words text, at_most integer) returns table (item_id uuid)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  with typed as materialized (select word from unnest(public.typed_words(words)) as word),
  hit as materialized (
    select typed.word, h.item_id, h.exact, h.at from typed, public.items_with(typed.word, 2000) h),
  rarest as materialized (
    select typed.word, count(hit.item_id) as hits from typed left join hit on hit.word = typed.word
    group by typed.word order by 2, length(typed.word) desc, 1 limit 1)
  (select h.item_id from hit h join rarest on rarest.word = h.word
    where not exists (select from typed where typed.word <> h.word
      and (typed.word, h.item_id) not in (select hit.word, hit.item_id from hit)
      and not exists (select from public.approvals_itemword w
        where w.workspace_id = current_setting('app.workspace_id')::uuid and w.item_id = h.item_id
          and w.word >= typed.word and w.word <= public.last_word(typed.word)))
    group by h.item_id order by bool_or(h.exact) desc, max(h.at) desc, h.item_id limit at_most)
  union all
  select null from rarest where rarest.hits >= 2000
$$;

-- The decisions of the bound workspace in which all the words occur: who, the agent, the customer, what was written
-- and what was named. As above.
create function search_decisions(words text, at_most integer) returns table (decision_id uuid)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  with typed as materialized (select word from unnest(public.typed_words(words)) as word),
  hit as materialized (
    select typed.word, h.decision_id, h.exact, h.at from typed, public.decisions_with(typed.word, 2000) h),
  rarest as materialized (
    select typed.word, count(hit.decision_id) as hits from typed left join hit on hit.word = typed.word
    group by typed.word order by 2, length(typed.word) desc, 1 limit 1)
  (select h.decision_id from hit h join rarest on rarest.word = h.word
    where not exists (select from typed where typed.word <> h.word
      and (typed.word, h.decision_id) not in (select hit.word, hit.decision_id from hit)
      and not exists (select from public.approvals_decisionword w
        where w.workspace_id = current_setting('app.workspace_id')::uuid and w.decision_id = h.decision_id
          and w.word >= typed.word and w.word <= public.last_word(typed.word)))
    group by h.decision_id order by bool_or(h.exact) desc, max(h.at) desc, h.decision_id limit at_most)
  union all
  select null from rarest where rarest.hits >= 2000
$$;
reset role;
revoke create on schema public from @prefix@_search;
