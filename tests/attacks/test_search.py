"""The searches as a way into other workspaces or into what may have to be erased: neither is one.

Beta has the same names as alpha. What a search may show of alpha is in `EXPECTED`; each attack asks for anything else.
"""

import pytest

from tests.attacks.conftest import Try

ITEMS = "select 1 from search_items('{0}', 100) found where found is not null"
DECISIONS = "select 1 from search_decisions('{0}', 100) found where found is not null"
DENIED = "42501 permission denied for"
UNBOUND = ("42704 unrecognized configuration parameter", "22P02 invalid input syntax for type uuid")

# Everything of both houses that a word finds: (function, word, how much of alpha).
EXPECTED = [
    (ITEMS, "spring", 1), (ITEMS, "customer-", 2), (ITEMS, "customer-1", 1), (ITEMS, "bo@x.example", 2),
    (ITEMS, "bo", 2), (DECISIONS, "ada", 2), (DECISIONS, "because test", 2), (DECISIONS, "desk", 2),
]  # fmt: skip


@pytest.mark.parametrize(("search", "word", "number"), EXPECTED)
def test_a_search_finds_what_is_in_the_bound_workspace_and_nothing_else(
    search: str, word: str, number: int, attempt: Try
) -> None:
    """Both houses hold the same, so a leak would find twice as much, and a guard too many nothing."""
    assert attempt("app", search.format(word)) == f"{number} rows"


@pytest.mark.parametrize(("search", "word", "number"), EXPECTED)
def test_a_search_answers_nobody_who_is_bound_to_one_customer(
    search: str, word: str, number: int, attempt: Try
) -> None:
    del number
    assert attempt("app", search.format(word), subject="customer-1") == "0 rows"


@pytest.mark.parametrize("search", [ITEMS, DECISIONS])
def test_a_search_without_a_workspace_is_an_error_and_not_an_empty_answer(search: str, attempt: Try) -> None:
    assert attempt("app", search.format("bo"), workspace=None).startswith(UNBOUND)


# What leads to a row of beta if the function, its owner or the policy behind it gives way.
OTHERS = {
    "asking by the other's name": ["select 1 from search_items(%(b_slug)s, 100)"],
    "asking by the other's ids": ["select 1 from search_items(%(b_run)s::text, 100)"],
    "naming functions of one's own": [
        "set local search_path = pg_temp, public",
        "select 1 from search_items('spring', 100) f(id) where id = %(b_campaign)s",
    ],
    "casting to another order": [
        "select 1 from search_items('bo' collate \"C\", 100) f(id) where id <> %(campaign)s"
        " and id <> %(sent_campaign)s"
    ],
    "a question that closes the statement": [
        "select 1 from search_items($$') or true; select id from approvals_campaign; --$$, 100)"
    ],
    "joining to what is not there": [
        "select 1 from search_items('spring', 100) f(id) join approvals_campaign c on c.id = f.id"
        " where c.workspace_id <> %(workspace)s"
    ],
    "decisions of the other": [
        "select 1 from search_decisions('because', 100) f(id) where id = %(b_dismissal)s or id = %(b_approval)s"
    ],
}


@pytest.mark.parametrize("attack", OTHERS)
def test_nothing_of_another_workspace_comes_by(attack: str, attempt: Try) -> None:
    assert attempt("app", *OTHERS[attack]) == "0 rows"


def test_a_search_for_nothing_does_not_find_everything(attempt: Try) -> None:
    for word in ("", " ", "%%", "*", "''", "_", "\\", ":*", "!&|", "()", "<>", "--"):
        assert attempt("app", ITEMS.format(word.replace("'", "''"))) == "0 rows", word


# Around the functions.
REFUSED = {
    "read the words of items": ("select * from approvals_itemword", f"{DENIED} table approvals_itemword"),
    "read the words of decisions": (
        "select * from approvals_decisionword",
        f"{DENIED} table approvals_decisionword",
    ),
    "make an item found by another word": (
        "insert into approvals_itemword values (%(workspace)s, %(campaign)s, 'x', now())",
        f"{DENIED} table approvals_itemword",
    ),
    "hide a decision from the search": (
        "delete from approvals_decisionword",
        f"{DENIED} table approvals_decisionword",
    ),
    "ask without the check": ("select * from items_with('bo', 10)", f"{DENIED} function items_with"),
    "ask for decisions without the check": (
        "select * from decisions_with('ada', 10)",
        f"{DENIED} function decisions_with",
    ),
    "replace the search": (
        "create or replace function search_items(words text, at_most integer) returns table (item_id uuid)"
        " language sql as 'select id from approvals_campaign'",
        f"{DENIED} schema public",
    ),
    "give the search to oneself": (
        "alter function search_items(text, integer) owner to current_user",
        "42501 must be owner of function search_items",
    ),
    "let the search run as oneself": (
        "alter function search_items(text, integer) security invoker",
        "42501 must be owner of function search_items",
    ),
    "shadow the words": ("create temp table approvals_itemword (word text)", "42501 permission denied"),
    "move a tool to another tab": (
        "update approvals_runtool set tab = 'history'",
        f"{DENIED} table approvals_runtool",
    ),
}


@pytest.mark.parametrize("role", ["app", "ingest"])
@pytest.mark.parametrize("attack", REFUSED)
def test_nobody_reaches_around_the_search_to(attack: str, role: str, attempt: Try) -> None:
    statement, refusal = REFUSED[attack]
    assert refusal in attempt(role, statement)


def test_ingest_does_not_search(attempt: Try) -> None:
    assert f"{DENIED} function search_items" in attempt("ingest", ITEMS.format("bo"))
    assert f"{DENIED} function search_decisions" in attempt("ingest", DECISIONS.format("ada"))


UNREADABLE = ("payload", "run", "event", "decision", "campaign", "version", "audiencerow", "member", "token",
              "runtime", "job", "queueitem", "runtool", "toolcall", "user", "workspace")  # fmt: skip


@pytest.mark.parametrize("table", UNREADABLE)
def test_the_role_that_searches_reads_words_and_recipients_only(table: str, attempt: Try) -> None:
    said = attempt("owner", "set local role secondlook_search", f"select 1 from approvals_{table}")
    assert said.startswith(DENIED)


@pytest.mark.parametrize("column", ["state", "reply", "id", "job_id"])
def test_of_a_delivery_it_reads_who_and_which_message(column: str, attempt: Try) -> None:
    read = f"select {column} from approvals_delivery"
    assert attempt("owner", "set local role secondlook_search", read).startswith(DENIED)


@pytest.mark.parametrize("table", ["itemword", "decisionword", "delivery"])
def test_the_role_that_searches_is_bound_like_everybody(table: str, attempt: Try) -> None:
    """The second line: a function that forgot its filter would still show the bound workspace alone."""
    search = "set local role secondlook_search"
    theirs = f"select 1 from approvals_{table} where workspace_id <> %(workspace)s"
    mine = f"select 1 from approvals_{table} where workspace_id = %(workspace)s"
    assert attempt("owner", search, theirs) == "0 rows"
    assert attempt("owner", search, mine) != "0 rows"
    assert attempt("owner", search, mine, subject="customer-1") == "0 rows"
    assert attempt("owner", search, mine, workspace=None).startswith(UNBOUND)


# A guard taken away: the search fails or finds nothing, which the first test of this file would notice.
def test_without_its_policy_the_search_finds_nothing(attempt: Try) -> None:
    said = attempt("owner", "drop policy search on approvals_itemword", "set local role secondlook_search",
                   ITEMS.format("spring"))  # fmt: skip
    assert said == "0 rows"


def test_without_its_grant_the_search_is_an_error(attempt: Try) -> None:
    taken = "revoke select (word) on approvals_itemword from secondlook_search"
    said = attempt("owner", taken, "set local role secondlook_search", ITEMS.format("spring"))
    assert said.startswith(f"{DENIED} table approvals_itemword")


def test_words_of_a_payload_go_with_it_and_the_others_stay(attempt: Try) -> None:
    erased = ("delete from approvals_payload p using approvals_decision d"
              " where d.payload_id = p.id and d.id = %(dismissal)s")  # fmt: skip
    search = "set local role secondlook_search"
    assert attempt("owner", erased, search, DECISIONS.format("because")) == "1 rows"
    assert attempt("owner", erased, search, DECISIONS.format("ada")) == "2 rows"
    left = "select 1 from approvals_decisionword where decision_id = %(dismissal)s and word in ('because', 'test')"
    assert attempt("owner", erased, left) == "0 rows"
