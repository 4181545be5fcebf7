-- The signing secret of a runtime may be made anew: by the owner alone, as whoever runs Secondlook is once the old one
-- got known, or cannot be read any more because FIELD_KEY is lost. For everybody else it stays set once: somebody with
-- the application's password could else have a runtime trust what they sign.
create or replace function refuse_another_secret() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if old.signing_secret <> ''::bytea and new.signing_secret <> old.signing_secret
      and current_user <> '@prefix@_owner' then
    raise exception 'the signing secret of a runtime is set once'
      using errcode = '23514', constraint = 'runtime_secret_once';
  end if;
  return new;
end $$;
