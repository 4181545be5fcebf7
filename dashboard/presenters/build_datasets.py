"""Filling the pages of lists of recipients."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from approvals.rules.csv_rows import DELIMITERS
from approvals.selectors.datasets import STATES, RowFound, Wanted, status_of
from dashboard.forms import datasets as forms
from dashboard.presenters.ages import when
from dashboard.presenters.chips import Chip
from dashboard.presenters.datasets import ListLine, ListPage, ListsPage, Progress, RowLine
from dashboard.presenters.parts import NOTHING, Choice, Empty, Fact, Link, Trail
from dashboard.presenters.places import Places
from dashboard.presenters.text import plain, reveal_line, summary_line

if TYPE_CHECKING:
    from approvals.models import Dataset

_STATUS = {
    "waiting": Chip("waiting", "quiet", "Waits for a worker"),
    "importing": Chip("importing", "info", "A worker is reading it"),
    "ready": Chip("ready", "ok", "A campaign can use it"),
    "failed": Chip("failed", "danger", "It could not be read, and nothing of it was kept"),
}
_ROW = {
    "addressable": Chip("addressable", "ok", "Can be written to"),
    "duplicate": Chip("duplicate", "quiet", "An earlier row has the same address"),
    "suppressed": Chip("suppressed", "warn", "Is not to be written to"),
    "refused": Chip("refused", "danger", "Cannot be written to"),
}
KNOWN = "This file was imported before. This is that import; nothing was imported twice."


def lists_page(
    *,
    places: Places,
    lists: tuple[Sequence[Dataset], bool],
    form: Any,
    limit_mb: int,
    refused: str,
    now: datetime,
) -> ListsPage:
    """The overview, with the form that sends a list."""
    shown, more = lists
    return ListsPage(
        title="Lists of recipients",
        form=form,
        upload_url=places.upload(),
        limit=f"Up to {limit_mb} MB and 1,000,000 rows.",
        refused=refused,
        lists=tuple(_line(one, places, now) for one in shown),
        older=places.datasets(f"before={shown[-1].created_at.isoformat()}") if more else "",
        empty=None if shown else Empty("No list yet", "Send a CSV file below; it is read within seconds."),
        suppressions=Link("Who is not to be written to", places.suppressions()),
        new=Link("New campaign", places.new_campaign()),
    )


def _line(dataset: Dataset, places: Places, now: datetime) -> ListLine:
    return ListLine(
        name=summary_line(dataset.name, 100),
        url=places.dataset(dataset.id),
        progress=progress_of(dataset, places),
        by=reveal_line(dataset.by_name),
        at=when(dataset.created_at, now),
    )


def progress_of(dataset: Dataset, places: Places) -> Progress:
    """How far it is; a list that is over is not asked for again."""
    status = status_of(dataset)
    total, done = dataset.total or 0, dataset.stored
    if status == "ready":
        text = counted(dataset)
    elif status == "failed":
        text = "Nothing of it was kept. Correct the file and send it again."
    elif total:
        text = f"{done:,} of {total:,} rows"
    else:
        text = "The rows are being counted." if status == "importing" else "A worker reads it in a moment."
    return Progress(
        state=_STATUS[status],
        text=text,
        done=done,
        total=total if status == "importing" else 0,
        trouble=reveal_line(dataset.trouble or dataset.notice),
        url=places.dataset_live(dataset.id) if status in ("waiting", "importing") else "",
        write=(
            Link("Write to this list", places.new_campaign(f"list={dataset.id}"))
            if status == "ready" and dataset.addressable
            else None
        ),
    )


def counted(dataset: Dataset) -> str:
    """How many rows of a list that is ready are what."""
    parts = [f"{getattr(dataset, state):,} {state}" for state in STATES if getattr(dataset, state)]
    rows = "row" if dataset.total == 1 else "rows"
    return f"{dataset.total:,} {rows}: {', '.join(parts)}."


def list_page(
    dataset: Dataset,
    rows: tuple[Sequence[RowFound], bool],
    asked: forms.Asked,
    *,
    places: Places,
    known: bool,
    now: datetime,
) -> ListPage:
    """One list with the rows that the address asks for."""
    found, more = rows
    wanted = asked.wanted

    def here(changed: Wanted) -> str:
        return places.dataset(dataset.id, forms.address(changed))

    following = Wanted(wanted.state, wanted.text, found[-1].position) if more else None
    return ListPage(
        title=plain(dataset.name),
        heading=reveal_line(dataset.name),
        trail=Trail(Link("Lists of recipients", places.datasets())),
        progress=progress_of(dataset, places),
        facts=_facts(dataset, now),
        known=KNOWN if known else "",
        states=tuple(
            Choice(
                state,
                f"{state} ({getattr(dataset, state):,})" if state else "All rows",
                state == wanted.state,
            )
            for state in ("", *STATES)
        ),
        q=wanted.text,
        note=asked.note,
        rows=tuple(_row(row) for row in found),
        older=here(following) if following else "",
        first=here(Wanted(wanted.state, wanted.text)) if wanted.after else "",
        url=places.dataset(dataset.id),
    )


def _facts(dataset: Dataset, now: datetime) -> tuple[Fact, ...]:
    others = [name for name in dataset.columns if name != dataset.address_column]
    facts = [
        Fact("Sent by", reveal_line(dataset.by_name)),
        Fact("At", when(dataset.created_at, now)),
        Fact("Size", f"{dataset.size:,} bytes"),
        Fact("Encoding", dataset.encoding.removesuffix("-sig").upper()),
        Fact("Delimiter", DELIMITERS.get(dataset.delimiter, "")),
        Fact("Address column", reveal_line(dataset.address_column)),
        Fact("Variables", reveal_line(", ".join(others)) if others else "none"),
        Fact("SHA-256 of the file", dataset.sha256),
        Fact("Id for a proposal", str(dataset.id)),
    ]
    if dataset.file_erased_at:
        facts.append(Fact("The file", "The file was erased, with the rows of somebody who asked for it."))
    if dataset.formulas:
        facts.append(
            Fact("Rows with a formula", f"{dataset.formulas:,}: kept as text, and never run in an export")
        )
    return tuple(facts)


def _row(row: RowFound) -> RowLine:
    return RowLine(
        position=f"{row.position:,}",
        email=summary_line("(erased)" if row.erased else row.email, 120),
        address=reveal_line(row.address) if row.address not in ("", row.email) else NOTHING,
        values=tuple(Fact(plain(name), summary_line(value, 80)) for name, value in row.vars.items()),
        state=_ROW[row.state],
        reason=summary_line(row.reason, 300) if row.reason else NOTHING,
        formula=row.formula,
    )
