"""What a job does that the log has to tell of in the same transaction: to end, and to go on after a restore."""

from tests.attacks.matrix.case import Case
from tests.attacks.matrix.rows import told
from tests.attacks.matrix.states import TOLD

YOUNGER = "d.at >= now()"
OWN = (
    "case when own.later < 2147483648 then pg_xact_status((here + own.later)::text::xid8) = 'in progress' end"
)
END = "update approvals_job set status = 'done' where id = %(job_running)s"
ENDED = (
    *(
        Case(
            guard=guard,
            what=what,
            attack=(END, *entries),
            refusal="(job_end_is_told)",
        )
        for guard, what, entries in (
            (*TOLD, "end a job and say nothing", ()),
            (*TOLD, "tell of another job's end", (told("%(job_at_work)s"),)),
            (*TOLD, "tell that somebody was refused", (told("%(job_running)s", kind="'refused'"),)),
            (
                "body job_is_told asks d.target_id = new.id",
                "end two and tell of one",
                (told("%(job_at_work)s"),),
            ),
            (
                "body job_is_told asks d.kind = any (tg_argv)",
                "tell that somebody was refused",
                (told("%(job_running)s", kind="'refused'"),),
            ),
        )
    ),
    # Two that say: told by this transaction. test_races.py tries it with two at once.
    *(
        Case(
            guard=f"body job_is_told asks {asks}",
            what="end a job as it was told long ago",
            attack="update approvals_job set status = 'done' where id = %(job_at_work)s",
            refusal="(job_end_is_told)",
            behind=(f"body job_is_told asks {other}",),
        )
        for asks, other in ((YOUNGER, OWN), (OWN, YOUNGER))
    ),
)
GO_ON = "update approvals_job set status = 'queued' where id = %(job_paused)s"
RESUMED = (
    *(
        Case(
            guard="trigger approvals_job job_resumption_is_told",
            what=what,
            attack=(GO_ON, *entries),
            refusal="(job_resumption_is_told)",
        )
        for what, entries in {
            "go on after a restore and say nothing": (),
            "go on as another was told to": (told("%(job_at_work)s", kind="'resume_send'"),),
            "go on because it was taken back": (told("%(job_paused)s", kind="'cancel_send'"),),
        }.items()
    ),
    Case(
        guard="trigger approvals_job job_pause_is_kept",
        what="have a paused sending at work again",
        attack="update approvals_job set status = 'running', fence = fence + 1 where id = %(job_paused)s",
        refusal="(job_pause_is_kept)",
    ),
    Case(
        guard="trigger approvals_job job_pause_is_kept",
        what="follow a replay that was never heard from",
        attack="update approvals_job set status = 'running', fence = fence + 1 where id = %(job_held_back)s",
        refusal="(job_pause_is_kept)",
    ),
    Case(
        guard="body refuse_unheard asks r.max_seq > 0",
        what="follow a replay that was never heard from",
        attack="update approvals_job set status = 'running', fence = fence + 1 where id = %(job_held_back)s",
        refusal="(job_pause_is_kept)",
    ),
)

CASES = (*ENDED, *RESUMED)
