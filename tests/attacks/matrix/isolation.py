"""Row-level security: no row of another workspace, and none of another customer to whoever is bound to one."""

from collections.abc import Iterator

from tests.attacks.matrix.case import Case
from tests.attacks.matrix.guards import lines, reads, relations
from tests.attacks.matrix.rows import insert, replay

RLS = "42501 new row violates row-level security policy"
ONE_JOB = ("trigger approvals_decision decision_has_its_job", "trigger approvals_job job_has_its_decision")
TENANTS = [table.removeprefix("approvals_") for table, name, _ in lines("policies") if name == "workspace"]
READ_BY_APP = [noun for noun in TENANTS if reads("app", f"approvals_{noun}")]
# Rows that only owner's functions add.
BY_TRIGGERS = ("calledcampaign", "queueitem", "runtool", "itemword", "decisionword")

# What keeps the queue looks for the row's own workspace, in which nothing is to be seen.
PLACED = {
    "campaign": ("policy approvals_queueitem workspace", "policy approvals_delivery workspace"),
    "run": ("policy approvals_queueitem workspace", "policy approvals_job workspace"),
    "version": ("trigger approvals_version version_moved",),
}
# noun: (what its row over there cites, what a trigger that sees nothing over there would say first)
OVER_THERE: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "workspace": ({"id": "gen_random_uuid()"}, ()),
    "member": ({}, ()),
    "runtime": ({}, ()),
    "token": ({"runtime_id": "%(b_runtime)s"}, ()),
    "payload": ({}, ()),
    "run": (
        {"runtime_id": "%(b_runtime)s", "input_payload_id": "%(b_payload)s"},
        ("trigger approvals_run run_added", "trigger approvals_run run_findable"),
    ),
    "event": (
        {"run_id": "%(b_open_run)s"},
        ("trigger approvals_event event_received", "trigger approvals_event journal_advanced"),
    ),
    "runtool": ({"run_id": "%(b_run)s"}, ("trigger approvals_runtool runtool_placed",)),
    "decision": (
        {"payload_id": "%(b_payload)s"},
        ("constraint approvals_decision decision_seq_once", ONE_JOB[0]),
    ),
    "job": (
        {"campaign_id": "%(b_campaign)s", "version_id": "%(b_draft)s", "decision_id": "%(b_dismissal)s"},
        (ONE_JOB[1],),
    ),
    "campaign": (
        {},
        ("trigger approvals_campaign campaign_added", "trigger approvals_campaign campaign_findable"),
    ),
    "version": ({"campaign_id": "%(b_campaign)s"}, ("trigger approvals_version version_of_pending",)),
    "audiencerow": ({"version_id": "%(b_draft)s"}, ()),
    "delivery": (
        {
            "campaign_id": "%(b_campaign)s",
            "version_id": "%(b_draft)s",
            "audience_row_id": "%(b_draft_audience)s",
        },
        (),
    ),
    "calledcampaign": ({"run_id": "%(b_called_run)s"}, ()),
    "dataset": ({}, ()),
    "datasetrow": (
        {"dataset_id": "%(b_dataset)s"},
        ("trigger approvals_datasetrow datasetrow_of_an_open_dataset",),
    ),
    "suppression": ({}, ()),
    "attachment": ({"runtime_id": "null"}, ()),
    "versionattachment": ({"version_id": "%(b_draft)s", "attachment_id": "%(b_attachment)s"}, ()),
    "callback": ({"campaign_id": "%(b_campaign)s"}, ()),
    "observation": ({"runtime_id": "%(b_runtime)s"}, ()),
    "agentsession": ({"runtime_id": "%(b_watched)s"}, ()),
    "storedrow": ({"session_id": "%(b_session)s", "run_id": "null"}, ()),
    "queueitem": ({}, ()),
    "itemword": ({"item_id": "%(b_campaign)s"}, ()),
    "decisionword": ({"decision_id": "%(b_dismissal)s"}, ()),
}
SEES_NOTHING = dict.fromkeys(("event", "runtool"), "P0002 query returned no rows") | {
    "version": "(version_of_pending)"
}
CHANGED_OVER_THERE = {
    "run": "status = 'interrupted' where id = %(b_open_run)s",
    "job": "status = 'cancelled' where id = %(b_job)s",
    "campaign": "status = 'rejected' where id = %(b_campaign)s",
    "delivery": "state = 'skipped' where id = %(b_delivery)s",
    "token": "revoked_at = now() where id = %(b_token)s",
    "member": "roles = '{admin}' where id = %(b_member)s",
    "runtime": "base_url = 'http://eve.example' where id = %(b_runtime)s",
    "version": "digest = 'eve', sealed_at = now() where id = %(b_draft)s",
    "calledcampaign": "state = 'pending' where id = %(b_called)s",
    "dataset": "notice = 'eve' where id = %(b_dataset)s",
    "suppression": "released_at = now() where id = %(b_suppression)s",
    "callback": "answer = 'eve' where id = %(b_callback)s",
    "observation": "due_at = 'infinity' where id = %(b_observation)s",
    "agentsession": "updated_at = now() where id = %(b_session)s",
    "storedrow": "deleted_at = now() where id = %(b_row)s",
}


def theirs(noun: str) -> str:
    """Any row of another workspace."""
    key = "id" if noun == "workspace" else "workspace_id"
    return f"select {key} from approvals_{noun} where {key} <> %(workspace)s"


def reading() -> Iterator[Case]:
    """For app through each table that it may read; for ingest where it may; for owner, whom FORCE binds."""
    for noun in TENANTS:
        table = f"approvals_{noun}"
        by = "app" if noun in READ_BY_APP else "owner"
        yield Case(
            guard=f"policy {table} workspace", attack=theirs(noun), what="read", by=by, refusal="0 rows"
        )
        yield Case(guard=f"rls {table}", attack=theirs(noun), by=by)
        yield Case(guard=f"forced {table}", attack=theirs(noun), by="owner")
    for noun in ("run", "event", "runtime"):
        yield Case(
            guard=f"policy approvals_{noun} workspace",
            attack=theirs(noun),
            what="read",
            by="ingest",
            refusal="0 rows",
        )
    yield Case(
        guard="policy approvals_run workspace",
        what="lock, to learn that it is there",
        attack="select id from approvals_run where id = %(b_run)s for update",
    )


def writing() -> Iterator[Case]:
    """Add a row over there, and change one."""
    for noun, (spoiled, behind) in OVER_THERE.items():
        row = {"workspace_id": "%(b_workspace)s", **spoiled} if noun != "workspace" else spoiled
        policy = f"policy approvals_{noun} workspace"
        yield Case(
            guard=policy,
            what="add over there",
            by="owner" if noun in BY_TRIGGERS else "app",
            attack=insert(noun, **row),
            refusal=SEES_NOTHING.get(noun, RLS),
            without=f"alter policy workspace on approvals_{noun} with check (true)",
            behind=behind,
        )
    for noun, change in CHANGED_OVER_THERE.items():
        yield Case(
            guard=f"policy approvals_{noun} workspace",
            what="change over there",
            attack=f"update approvals_{noun} set {change}",
            behind=PLACED.get(noun, ()),
        )


SUBJECT = (
    Case(
        guard="policy approvals_run subject",
        what="find another customer's run",
        attack="select 1 from approvals_run where id = %(open_run)s",
        subject="customer-1",
    ),
    Case(
        guard="policy approvals_run subject",
        what="find another customer's run",
        by="ingest",
        attack="select 1 from approvals_run where id = %(open_run)s",
        subject="customer-1",
    ),
    Case(
        guard="policy approvals_run subject",
        what="make a run for another customer",
        by="ingest",
        attack=insert("run", subject="'customer-2'"),
        subject="customer-1",
        refusal='policy "subject" for table "approvals_run"',
    ),
    Case(
        guard="policy approvals_event subject",
        what="read another customer's events",
        attack="select 1 from approvals_event where run_id = %(run)s",
        subject="customer-2",
    ),
    Case(
        guard="policy approvals_event subject",
        what="report on another customer's run",
        by="ingest",
        attack=insert("event"),
        subject="customer-1",
        refusal='policy "subject" for table "approvals_event"',
    ),
    Case(
        guard="policy approvals_event reports_only",
        what="say that it was observed",
        by="ingest",
        attack=insert("event", provenance="'observed'"),
        refusal="reports_only",
    ),
    Case(
        guard="policy approvals_event reports_only",
        what="say that it was guarded",
        by="ingest",
        attack=insert("event", provenance="'guarded'"),
        refusal="reports_only",
    ),
    Case(
        guard="policy approvals_run originals_only",
        what="make a replay",
        by="ingest",
        attack=replay(),
        refusal="42501 permission denied for table approvals_run",
        behind=("no insert (replay_of_id) on approvals_run for ingest",),
    ),
)
# toolcall reads through callevent, so what is asked of the one is asked of both.
VIEWS = tuple(
    Case(
        guard="option approvals_callevent security_invoker",
        what=f"read another customer's calls in {view}",
        attack=f"select 1 from {view} where run_id = %(run)s",
        subject="customer-2",
    )
    for view in relations("view")
)
# The readers' policies open a table, to them alone.
READERS = tuple(
    Case(
        guard=f"policy {table} {name}",
        what="read as if it were for everybody",
        attack=theirs(noun),
        behind=() if noun in READ_BY_APP else (f"no select on {table} for app",),
        refusal="0 rows" if noun in READ_BY_APP else f"42501 permission denied for table {table}",
    )
    for table, name, what in lines("policies")
    if what.startswith("permissive select")
    for noun in (table.removeprefix("approvals_"),)
)
# What a search looks at: of one workspace, and nothing for whoever is bound to one customer. The functions ask for
# the workspace too.
SEARCHED = {
    "itemword": ("search_items('spring', 99)", "items_with asks w", "%(b_campaign)s"),
    "decisionword": ("search_decisions('because', 99)", "decisions_with asks w", "%(b_dismissal)s"),
    "delivery": ("search_items('bo@x.example', 99)", "items_with asks d", "%(b_campaign)s"),
}


def searching() -> Iterator[Case]:
    """Each table that is searched, by the function that searches it."""
    for noun, (search, asks, of_beta) in SEARCHED.items():
        policy = f"policy approvals_{noun} search"
        body = f"body {asks}.workspace_id = current_setting('app.workspace_id')::uuid"
        everywhere = f"select 1 from {search} found (id) where id = {of_beta}"
        for guard, behind in ((policy, body), (body, policy)):
            yield Case(guard=guard, what="find what is in another workspace", attack=everywhere, behind=(behind,),
                       refusal="0 rows")  # fmt: skip
        for guard in (policy, f"rls approvals_{noun}"):
            yield Case(
                guard=guard,
                what="find another customer's",
                attack=f"select 1 from {search}",
                subject="customer-1",
                refusal="0 rows",
            )
        yield Case(
            guard=policy,
            what="look into another workspace as the searches do",
            by="owner",
            attack=("set local role secondlook_search", theirs(noun)),
            refusal="0 rows",
        )


CASES = (*reading(), *writing(), *SUBJECT, *VIEWS, *READERS, *searching())
