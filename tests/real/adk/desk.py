"""What a person does at the desk with one run of a product: reads its page, and fills in and sends one of its forms."""

from typing import Any

import httpx

from approvals.models import Run
from tests.faults.lab import eventually
from tests.real.adk.product import PATIENCE_S, Product
from tests.views.forms import Form, form_of, offered

REASON = "a test knows what became of it"


def opened(product: Product, run: Run) -> httpx.Response:
    """The page of a run as the person gets it."""
    return product.person.http.get(f"/w/{product.person.slug}/runs/{run.id}/")


def form(product: Product, run: Run, act: str) -> Form:
    """The form of the run's page whose address ends so."""
    return form_of(opened(product, run), f"/{act}")


def may(product: Product, run: Run) -> set[str]:
    """What the run's page offers to decide."""
    return offered(opened(product, run))


def sent(product: Product, filled: Form, **typed: Any) -> httpx.Response:
    """The answer to a form that is sent as it stands, with these fields filled in; `_` in their names is `-`."""
    given = {name.replace("_", "-"): value for name, value in typed.items()}
    return product.person.http.post(filled.action, data=filled.fields | given)


def decided(product: Product, run: Run, act: str, **typed: Any) -> None:
    """Fill in and send one form of the run's page; it has to be accepted."""
    answer = sent(product, form(product, run, act), **typed)
    assert answer.status_code == httpx.codes.SEE_OTHER, answer.text


def went_on(product: Product, run: Run, act: str, **typed: Any) -> Run:
    """Decide so, and wait for the end of the new run that came of it."""
    before = len(product.replays_of(run))
    decided(product, run, act, **typed)
    replays = product.replays_of(run)
    assert len(replays) == before + 1
    return product.ended(replays[-1])


def states(product: Product, run: Run) -> list[tuple[str, str]]:
    """The calls of a run in order, as the API tells them: (tool, what became of the call)."""
    return [(call["name"], call["state"]) for call in product.told(run)["calls"]]


def record(product: Product, run: Run) -> tuple[str, str]:
    """(what the run is known to have called, why), as the API tells it."""
    told = product.told(run)["record"]
    return told["kind"], told["code"]


def becomes(product: Product, run: Run, wanted: tuple[str, str]) -> None:
    """Wait until the record of a run is what it has to be."""
    try:
        eventually(lambda: record(product, run) == wanted, str(wanted), PATIENCE_S)
    except AssertionError:
        raise AssertionError(f"never {wanted}: {product.told(run)}") from None


def queue(product: Product) -> str:
    """The queue's page with what waits for a decision, without the bar of what this person decided last."""
    return product.person.http.get(f"/w/{product.person.slug}/").text.partition('<aside class="mine"')[0]
