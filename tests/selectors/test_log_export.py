"""What the header of an export says about it."""

from dataclasses import fields, replace
from datetime import date

from approvals.selectors.decisions import Wanted
from approvals.selectors.log_export import filter_of


def test_the_whole_log_has_no_filter() -> None:
    assert filter_of(Wanted()) == {}


def test_every_filter_is_named() -> None:
    """A selection whose filter is not named would pass for a whole log with entries missing."""
    values = {"date | None": date(2025, 11, 29), "str": "x", "bool": True}
    for field in fields(Wanted):
        kind = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))
        wanted = replace(Wanted(), **{field.name: values.get(kind, date(2025, 11, 29))})
        assert len(filter_of(wanted)) == 1, field.name
    assert filter_of(Wanted(since=date(2025, 11, 29), decisions_only=True)) == {
        "from": "2025-11-29",
        "show": "decisions",
    }
    assert filter_of(Wanted(kind="approve", decisions_only=True)) == {"kind": "approve"}
