"""Guards without an attack in the matrix, and why. Nothing may stand here that has one."""

from approvals.selectors.ground import ROLES
from approvals.selectors.roles import READERS
from tests.attacks.matrix.guards import every_guard

_NO_NAME = "nothing in its body is looked up by name, so nothing could stand in; the pin keeps it so"
_ASKED_FIRST = "superfluous: the policies of the journal are asked before any condition of a query"
_READS_THROUGH = (
    "superfluous: callevent, through which it reads, looks with the eyes of whoever asks in any case"
)
_PURE = "answers from what it is given and reads no table"
_WAKES = "a wake-up that is swallowed or forged is made up for by the sweep: no row depends on it"
_SEES_LESS = "superfluous: search sees of the bound workspace what owner sees of it too"
_READS_CAMPAIGNS = (
    "derives the queue's row again from what is so, about campaigns, which app reads in any case"
)
_SEES_ALL = "its own policies show it every row of what it may read, so nothing is left to bypass"
_SIGNS_IN = "a sign-in is no statement: test_logins.py tries it"

EXCUSED: dict[str, str] = {
    "option approvals_callevent security_barrier": _ASKED_FIRST,
    "option approvals_toolcall security_barrier": _ASKED_FIRST,
    "option approvals_toolcall security_invoker": _READS_THROUGH,
    "trigger approvals_job job_queued_now": _WAKES,
    "trigger approvals_job job_queued_later": _WAKES,
    "constraint approvals_token token_workspace_id": "superfluous: no key cites a token, and its id is unique",
    "constraint approvals_observation observation_workspace_id": "superfluous: no key cites an observation, and its"
    " id is unique",
    "pinned job_queued()": _WAKES,
    "trigger approvals_dataset dataset_added": _WAKES,
    "trigger approvals_callback callback_added": _WAKES,
    "pinned callback_added()": _WAKES,
    "pinned dataset_added()": _WAKES,
    "pinned payload_forgotten()": "runs as whoever erases, which is owner",
    "pinned refuse_rows_for_sealed()": "a comparison of rows takes no operator but those of an operator family",
    **dict.fromkeys(
        (
            "pinned all_workspaces()",
            "pinned adopt_place()",
            "pinned campaign_moved()",
            "pinned delivery_moved()",
            "pinned run_moved()",
            "pinned send_job_moved()",
            "pinned version_moved()",
            "pinned refuse_other_terms()",
            "pinned refuse_change()",
            "pinned refuse_change_of_called()",
            "pinned run_record(of_workspace uuid, of_run uuid, OUT kind text, OUT complete boolean, OUT why text)",
            "pinned refuse_forgotten_intent()",
        ),
        _NO_NAME,
    ),
    **{
        guard: _PURE
        for guard in every_guard()
        if guard.startswith(
            ("no execute on hashed_time(", "no execute on decision_hash(", "no execute on is_releasing(",
             "no execute on transition_allowed(", "no execute on bare(", "no execute on cut_into_words(",
             "no execute on folded(", "no execute on last_word(", "no execute on said_in(",
             "no execute on typed_words(", "no execute on words_of(")
        )
    },
    "no execute on place_campaign(of_workspace uuid, of_campaign uuid) for app": _READS_CAMPAIGNS,
    "owner does not inherit from search": _SEES_LESS,
    "sweep is not bypassrls": _SEES_ALL,
    **{f"{reader} does not log in": _SIGNS_IN for reader in READERS},
    **{f"{role} is not createdb": "CREATE DATABASE is no part of a transaction: test_logins.py tries it"
       for role in ROLES},
    "app is not a member of ingest": "ingest may nothing that app may not",
    "session transaction_isolation": "takes two transactions at once: test_races.py tries it",
    "session synchronous_commit": "loses what was answered when the power fails, which no statement can bring about",
}  # fmt: skip
