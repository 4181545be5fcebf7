"""The decision log: who allowed what, when, why, and what they saw."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse, StreamingHttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.http import require_safe

from approvals.access.desk import decision_for
from approvals.selectors import decisions as selectors
from approvals.selectors import log_check, log_export, log_heads
from approvals.selectors.queue import choices
from dashboard.forms import decisions as forms
from dashboard.middleware import PageRequest
from dashboard.presenters.build_decisions import decisions_page
from dashboard.presenters.build_entry import decision_page
from dashboard.presenters.build_log import log_box
from dashboard.presenters.build_log import packet as packet_of
from dashboard.presenters.places import Places
from dashboard.views.shell import render_page

BLOCK = 64 * 1024  # characters that are sent at once
PACKET_ENTRIES = 200  # in a packet at most
PACKET_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; sandbox"


@require_safe
def page(request: PageRequest, slug: str) -> HttpResponse:
    """One page of the log, filtered as the address says."""
    request.actor.require("read_log")
    asked = forms.read(request.GET)
    found = selectors.search(asked.wanted.text)
    entries, more = selectors.page_of(asked.wanted, before=asked.before, found=found)
    shown = decisions_page(
        places=Places(slug),
        asked=asked,
        whole=found is None or found.whole,
        entries=entries,
        more=more,
        people=selectors.people(),
        agents=choices().agents,
        log=log_box(
            head=log_heads.head(),
            verification=log_check.last_verification(),
            wanted=asked.wanted,
            places=Places(slug),
            may_export=request.actor.may("export_log"),
            now=timezone.now(),
        ),
        now=timezone.now(),
    )
    return render_page(request, "decisions/page.html", shown, current="decisions")


@require_safe
def entry(request: PageRequest, slug: str, decision_id: UUID) -> HttpResponse:
    """One entry: what its decider saw, and what came of it."""
    decision = decision_for(request.actor, decision_id)
    back = forms.read_query(request.GET.get("back", ""))
    shown = decision_page(
        selectors.opened(decision),
        places=Places(slug),
        overdue_s=settings.OVERDUE_S,
        now=timezone.now(),
        back=forms.address(back.wanted, before=back.before),
    )
    return render_page(request, "decisions/entry.html", shown, current="decisions")


@require_safe
def export(request: PageRequest, slug: str) -> StreamingHttpResponse:
    """The log to keep, filtered as the address says.

    It is sent after the middleware has ended this request's transaction, so the selector makes one for each batch.
    """
    request.actor.require("export_log")
    wanted, as_csv = forms.read_export(request.GET)
    begun = log_export.begin(request.membership.workspace_id, wanted)
    lines = log_export.csv_lines(begun) if as_csv else log_export.json_lines(begun)
    response = StreamingHttpResponse(
        _blocks(lines) if request.method == "GET" else iter(()),
        content_type="text/csv; charset=utf-8" if as_csv else "application/jsonl; charset=utf-8",
    )
    name = f"secondlook-log-{slug}-{begun.head.seq}.{'csv' if as_csv else 'jsonl'}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_safe
def packet(request: PageRequest, slug: str, decision_id: UUID) -> HttpResponse:
    """One file that shows and proves one entry, without this product."""
    decision = decision_for(request.actor, decision_id)
    begun, sealed, more = log_export.entries_of_item(decision, at_most=PACKET_ENTRIES)
    name = f"secondlook-{slug}-entry-{decision.seq}.html"
    shown = packet_of(replace(begun, entries=len(sealed)), sealed, more=more, places=Places(slug), file=name)
    response = HttpResponse(render_to_string("decisions/packet.html", {"packet": shown}))
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Content-Security-Policy"] = PACKET_POLICY
    return response


def _blocks(lines: Iterator[str]) -> Iterator[str]:
    """Many lines at once: sending each by itself takes longer than making it."""
    block: list[str] = []
    length = 0
    for line in lines:
        block.append(line)
        length += len(line)
        if length >= BLOCK:
            yield "".join(block)
            block, length = [], 0
    yield "".join(block)
