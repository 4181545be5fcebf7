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
_DERIVES = "derives the queue's row again from rows of the bound workspace: it can only say what is so"
_SAME_OWNER = (
    "reached through pinned functions of the same owner alone, whose pins give all that this one gives"
)
_WORDS = "reached through pinned functions alone, and only says by which words a text is found"
_PLACE = "says where the server is; owner alone writes it down, in a session of its own"
_WAKES = "a wake-up that is swallowed or forged is made up for by the sweep: no row depends on it"
_SEES_ALL = "its own policies show it every row of what it may read, so nothing is left to bypass"
_SIGNS_IN = "a sign-in is no statement: test_logins.py tries it"

EXCUSED: dict[str, str] = {
    "option approvals_callevent security_barrier": _ASKED_FIRST,
    "option approvals_toolcall security_barrier": _ASKED_FIRST,
    "option approvals_toolcall security_invoker": _READS_THROUGH,
    "trigger approvals_job job_queued_now": _WAKES,
    "trigger approvals_job job_queued_later": _WAKES,
    "constraint approvals_token token_workspace_id": "superfluous: no key cites a token, and its id is unique",
    "pinned job_queued()": _WAKES,
    "pinned refuse_rows_for_sealed()": "a comparison of rows takes no operator but those of an operator family",
    **dict.fromkeys(
        (
            "pinned all_workspaces()",
            "pinned campaign_moved()",
            "pinned delivery_moved()",
            "pinned run_moved()",
            "pinned refuse_change()",
            "pinned refuse_forgotten_intent()",
            "pinned send_job_moved()",
            "pinned run_record(of_workspace uuid, of_run uuid, OUT kind text, OUT complete boolean, OUT why text)",
        ),
        _NO_NAME,
    ),
    **{
        guard: _PURE
        for guard in every_guard()
        if guard.startswith(
            ("no execute on hashed_", "no execute on decision_hash", "no execute on is_releasing",
             "no execute on transition_allowed")
        )
    },
    **{
        guard: _DERIVES
        for guard in every_guard()
        if guard.startswith(("no execute on place_lineage", "no execute on place_campaign"))
    },
    **{
        guard: _WORDS
        for guard in every_guard()
        for function in ("bare", "folded", "cut_into_words", "words_of", "said_in", "typed_words", "last_word")
        if guard.startswith((f"pinned {function}(", f"no execute on {function}("))
    },
    **{
        guard: _PLACE
        for guard in every_guard()
        if guard.startswith(("pinned adopt_place(", "pinned place_now(", "no execute on place_now("))
    },
    "pinned payload_forgotten()": "runs as whoever erases, which is owner",
    "pinned queueitem_moved()": _SAME_OWNER,
    "pinned runtool_placed()": _SAME_OWNER,
    "pinned hashed_field(value text)": "superfluous, with its function: nothing calls it any more",
    "owner does not inherit from search": "its policies show no more than owner's own do",
    **{f"{reader} is not bypassrls": _SEES_ALL for reader in READERS},
    **{f"{reader} does not log in": _SIGNS_IN for reader in READERS},
    **{f"{role} is not createdb": "CREATE DATABASE is no part of a transaction: test_logins.py tries it"
       for role in ROLES},
    "app is not a member of ingest": "ingest may nothing that app may not",
    "session transaction_isolation": "takes two transactions at once: test_races.py tries it",
    "session synchronous_commit": "loses what was answered when the power fails, which no statement can bring about",
}  # fmt: skip
