-- What each role may do, and nothing else. Run by `migrate` as owner after every migration; the same result however
-- often it runs.

do $$ declare relation regclass; begin
  for relation in select c.oid::regclass from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v', 'p') loop
    execute format('revoke all on table %s from public, @prefix@_app, @prefix@_ingest, @prefix@_sweep, @prefix@_search',
                   relation);
  end loop;
  for relation in select c.oid::regclass from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'S' loop
    execute format('revoke all on sequence %s from public, @prefix@_app, @prefix@_ingest', relation);
  end loop;
end $$;
do $$ declare routine regprocedure; begin
  for routine in select p.oid::regprocedure from pg_proc p
      where p.pronamespace = 'public'::regnamespace and p.proowner = '@prefix@_owner'::regrole loop
    execute format('revoke all on function %s from public, @prefix@_app, @prefix@_ingest, @prefix@_search', routine);
  end loop;
end $$;
grant usage on schema public to @prefix@_app, @prefix@_ingest, @prefix@_sweep, @prefix@_search;

-- app: pages, workers, the reading API
grant select on django_migrations, django_content_type to @prefix@_app;
grant select, insert, update, delete on django_session, account_emailaddress, account_emailconfirmation
  to @prefix@_app;
grant select, insert on approvals_user to @prefix@_app;
grant update (password, last_login, name, is_active) on approvals_user to @prefix@_app;
grant select, insert on approvals_workspace, approvals_member, approvals_runtime, approvals_token, approvals_payload,
  approvals_run, approvals_event, approvals_decision, approvals_job, approvals_campaign, approvals_version,
  approvals_audiencerow, approvals_delivery, approvals_observation, approvals_agentsession, approvals_storedrow,
  approvals_dataset, approvals_datasetrow, approvals_suppression, approvals_attachment, approvals_versionattachment,
  approvals_callback
  to @prefix@_app;
grant select on approvals_callevent, approvals_toolcall, approvals_runtool, approvals_queueitem,
  approvals_calledcampaign to @prefix@_app;
grant update (ordinal, state, version_id, why_payload_id, settled_at) on approvals_calledcampaign to @prefix@_app;
grant select, insert, update on approvals_beat to @prefix@_app;
grant select on approvals_place to @prefix@_app;
grant update (hold_s, messages_per_minute, next_message_at) on approvals_workspace to @prefix@_app;
grant update (roles) on approvals_member to @prefix@_app;
grant update (base_url, silence_s, time_limit_s, writes_ahead, database_url, hides_calls, callback_url, signing_secret,
  campaign_tools)
  on approvals_runtime to @prefix@_app;
grant update (revoked_at) on approvals_token to @prefix@_app;
grant update (due_at, lease_until, fence, trouble, notice, troubled_since, read_at, version, facts, asked_at,
  changed_until, pass_after, pass_began_at, pass_done, pass_total, pass_ended_at) on approvals_observation to @prefix@_app;
grant update (due_at, lease_until, fence, notice, total, addressable, duplicate, suppressed, refused, formulas, trouble,
  ended_at) on approvals_dataset to @prefix@_app;
grant update (released_at) on approvals_suppression to @prefix@_app;
grant update (status, attempts, due_at, lease_until, fence, answer, told_at) on approvals_callback to @prefix@_app;
grant update (updated_at) on approvals_agentsession to @prefix@_app;
grant update (digest, deleted_at) on approvals_storedrow to @prefix@_app;
grant update (status, started_at, silent_after, overlong_after, ended_at, interrupted_at, interrupted_why,
  dismissed_at) on approvals_run to @prefix@_app;
grant update (status, due_at, queued_at, claimed_at, lease_until, fence, intent_at, accepted_at, finished_at,
  outcome, task_id) on approvals_job to @prefix@_app;
grant update (status, comment, finished_at, name, purpose, send_by, run_id) on approvals_campaign to @prefix@_app;
grant update (digest, sealed_at) on approvals_version to @prefix@_app;
grant update (state, job_id, fence, attempt, attempted_at, settled_at, reply, resolved_at) on approvals_delivery
  to @prefix@_app;
grant usage on all sequences in schema public to @prefix@_app;
grant execute on function transition_allowed(text, text, text), hashed_time(timestamptz),
  decision_hash(approvals_decision), is_releasing(text), run_record(uuid, uuid), run_records(uuid, uuid[]),
  settle_run(uuid, uuid), payload_matches(uuid, uuid, integer, text), place_now() to @prefix@_app;

-- ingest: adds runs and events, and can do nothing else
grant select (id, workspace_id, kind, silence_s, time_limit_s, writes_ahead) on approvals_runtime to @prefix@_ingest;
grant select on approvals_run to @prefix@_ingest;
grant insert (id, workspace_id, runtime_id, external_id, agent, session_id, subject, trigger, input_payload_id,
  input_hash, body_digest, lineage_id) on approvals_run to @prefix@_ingest;
grant select on approvals_event to @prefix@_ingest;
grant insert (workspace_id, run_id, seq, type, at, call_id, name, outcome, is_error, origin, provenance, payload_id,
  payload_hash) on approvals_event to @prefix@_ingest;
grant insert (id, workspace_id, body, salt) on approvals_payload to @prefix@_ingest;
grant usage on sequence approvals_event_id_seq to @prefix@_ingest;
grant execute on function payload_matches(uuid, uuid, integer, text) to @prefix@_ingest;

-- the readers: columns, not tables
grant select (id, slug, name, created_at) on approvals_workspace to @prefix@_sweep;
grant select (id, workspace_id, user_id, roles) on approvals_member to @prefix@_sweep;
grant select (id, workspace_id, runtime_id, subject, hint, digest, revoked_at) on approvals_token to @prefix@_sweep;
grant select (id, workspace_id, kind, status, fence, due_at, lease_until, run_id, accepted_at) on approvals_job
  to @prefix@_sweep;
grant select (id, workspace_id, status, silent_after, overlong_after, next_seq, max_seq) on approvals_run
  to @prefix@_sweep;
grant select (id, workspace_id, run_id, seq, state) on approvals_calledcampaign to @prefix@_sweep;
grant select (workspace_id, runtime_id, due_at, lease_until, fence, troubled_since) on approvals_observation
  to @prefix@_sweep;
grant select (id, workspace_id, due_at, lease_until, fence, ended_at) on approvals_dataset to @prefix@_sweep;
grant select (id, workspace_id) on approvals_delivery to @prefix@_sweep;
grant select (id, workspace_id, campaign_id, number, status, due_at, lease_until, fence) on approvals_callback
  to @prefix@_sweep;
grant select (workspace_id, seq, at, kind, hash) on approvals_decision to @prefix@_sweep;
grant select (workspace_id, item_id, word, at) on approvals_itemword to @prefix@_search;
grant select (workspace_id, decision_id, word, at) on approvals_decisionword to @prefix@_search;
grant select (workspace_id, campaign_id, dedupe_key, message_id) on approvals_delivery to @prefix@_search;
grant execute on function folded(text), bare(text), typed_words(text), last_word(text) to @prefix@_search;
set role @prefix@_sweep;
revoke all on function token_of(bytea), workspaces_of(bigint), all_workspaces(), due(integer), overdue_jobs(interval),
  observed_stores(interval), log_anchors(timestamptz), log_heads(), due_imports(integer), home_of_delivery(uuid),
  due_callbacks(integer), due_calls(integer)
  from public, @prefix@_ingest;
grant execute on function token_of(bytea), workspaces_of(bigint), all_workspaces(), due(integer),
  overdue_jobs(interval), observed_stores(interval), log_anchors(timestamptz), log_heads(), due_imports(integer),
  home_of_delivery(uuid), due_callbacks(integer), due_calls(integer) to @prefix@_app;
set role @prefix@_search;
revoke all on function search_items(text, integer), search_decisions(text, integer), items_with(text, integer),
  decisions_with(text, integer) from public, @prefix@_ingest;
grant execute on function search_items(text, integer), search_decisions(text, integer) to @prefix@_app;
reset role;
