"""What an agent could not be told, in words for every kind of news."""

from approvals.rules import callbacks
from dashboard.presenters.build_untold import _NEWS


def test_every_kind_of_news_has_its_words() -> None:
    named = {
        value
        for value in vars(callbacks).values()
        if isinstance(value, str) and value.startswith("campaign.")
    }
    assert {*callbacks.TYPES.values(), *named} == set(_NEWS)
    assert len(set(_NEWS.values())) == len(_NEWS)
