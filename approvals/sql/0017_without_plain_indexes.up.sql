-- The indexes that Django made on each table's workspace alone. Every table has others that begin with it, and while a
-- table's statistics are young Postgres took the plain one: a thousand rows were read where one was meant.

do $$ declare plain regclass; begin
  for plain in select i.indexrelid::regclass from pg_index i
      join pg_class t on t.oid = i.indrelid
      join pg_attribute a on a.attrelid = t.oid and a.attname = 'workspace_id'
      where t.relnamespace = 'public'::regnamespace and t.relname like 'approvals\_%' and not i.indisunique
        and i.indpred is null and i.indkey::text = a.attnum::text loop
    execute format('drop index %s', plain);
  end loop;
end $$;
