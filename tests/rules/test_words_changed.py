"""Texts are compared by words: what is said to be the same is, and it takes bounded time."""

import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from approvals.rules.words_changed import MOST_CHANGES, alike, changed

few_words = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=25).map(" ".join)


def parts(old: str, new: str) -> list[tuple[str, str]]:
    return [(stretch.kind, stretch.text.strip()) for stretch in changed(old, new)]


def test_what_went_and_what_came_is_told_apart_from_what_stayed():
    assert parts("you leave at 08:15 from gate 4", "you leave at 09:40 from gate 4 today") == [
        ("same", "you leave at"),
        ("gone", "08:15"),
        ("came", "09:40"),
        ("same", "from gate 4"),
        ("came", "today"),
    ]


def test_the_same_text_has_not_changed_whatever_its_white_space():
    assert parts("a b\n\nc", "a  b c") == [("same", "a  b c")]
    assert parts("", "") == []
    assert parts("", "a") == [("came", "a")]


def test_a_character_that_nobody_sees_is_a_change():
    assert parts("pay now", "pay\u200b now")[0][0] == "gone"


@given(few_words, few_words)
def test_both_texts_can_be_put_together_again(old, new):
    stretches = changed(old, new)
    before = "".join(" " + s.text for s in stretches if s.kind != "came")
    after = "".join(s.text for s in stretches if s.kind != "gone")
    assert before.split() == old.split()
    assert after.strip() == new
    assert all(one.kind != other.kind for one, other in pairwise(stretches))


@given(few_words, few_words)
def test_it_finds_the_fewest_words(old, new):
    was, now = old.split(), new.split()
    lengths = [[0] * (len(now) + 1) for _ in range(len(was) + 1)]
    for x, a in enumerate(was):
        for y, b in enumerate(now):
            lengths[x + 1][y + 1] = lengths[x][y] + 1 if a == b else max(lengths[x][y + 1], lengths[x + 1][y])
    kept = sum(len(s.text.split()) for s in changed(old, new) if s.kind == "same")
    assert kept == lengths[-1][-1]


def test_two_different_texts_are_told_as_such_and_in_bounded_time():
    started = time.process_time()
    old = " ".join(f"a{n}" for n in range(MOST_CHANGES))
    new = " ".join(f"b{n}" for n in range(MOST_CHANGES))
    assert [kind for kind, _ in parts(old, new)] == ["gone", "came"]
    changed("a b " * 4_000, "b a a " * 3_000)
    changed("x " * 1_000_000 + "a", "x " * 900_000 + "b")
    assert time.process_time() - started < 20


def test_how_alike_two_texts_are():
    assert alike("a b", "B a") == alike("", "") == 1
    assert alike("a b", "c d") == 0
    assert 0 < alike("your flight moved", "your train moved") < 1
