"""Every page, read as markup: what a strict policy forbids is not there, and every form is whole."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.templates.conftest import fragment_at
from tests.templates.gallery import FRAGMENTS, PAGES, render

TEMPLATES = Path(__file__).parents[2] / "templates"
CONTROLS = {"input", "select", "textarea"}


class Markup(HTMLParser):
    """The tags of a page in order, each with its attributes and its form."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.forms: list[dict[str, object]] = []
        self.wrapped: set[int] = set()
        self._labels = 0
        self._open_form: dict[str, object] | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open_form = {
                "method": attributes.get("method", "get"),
                "action": attributes.get("action"),
                "names": [],
            }
            self.forms.append(self._open_form)
        if tag == "label":
            self._labels += 1
        if tag in CONTROLS:
            if self._labels:
                self.wrapped.add(len(self.tags))
            if self._open_form is not None:
                self._open_form["names"].append(attributes.get("name", ""))  # type: ignore[attr-defined]
        self.tags.append((tag, attributes))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open_form = None
        if tag == "label":
            self._labels -= 1

    def all(self, *names: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.tags if tag in names]


@pytest.fixture(params=[*PAGES, *FRAGMENTS])
def html(request: pytest.FixtureRequest) -> str:
    return render(*{**PAGES, **FRAGMENTS}[request.param])


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest) -> str:
    return render(*PAGES[request.param])


def test_whatever_a_page_asks_for_by_itself_the_gallery_has(page: str) -> None:
    """However slow the machine is: a page that stays open for long asks, and a 404 would be a complaint."""
    polled = [
        tag["hx-get"] for tag in Markup(page).all("div") if tag.get("hx-trigger", "").startswith("every")
    ]
    assert [path for path in polled if not fragment_at(path.partition("?")[0])] == []


def test_a_page_has_one_heading_a_title_and_a_main_part(page: str) -> None:
    markup = Markup(page)
    assert page.lstrip().startswith("<!DOCTYPE html>")
    assert len(markup.all("h1")) == 1
    assert [main["id"] for main in markup.all("main")] == ["main"]
    assert re.search(r"<title>\s*[^\s·<]", page)


def test_nothing_is_inline_and_nothing_comes_from_elsewhere(html: str) -> None:
    for tag, attributes in Markup(html).tags:
        assert tag != "style"
        assert tag != "script" or attributes.get("src", "").startswith("/static/")
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("src", "href", "action"):
            assert not re.match(r"(\w+:)?//|javascript:|data:", attributes.get(name, "")), attributes
        assert not [name for name in attributes if name.startswith("hx-on")]


def test_a_form_that_changes_something_is_a_post_with_its_token(html: str) -> None:
    for form in Markup(html).forms:
        names = form["names"]
        assert form["action"]
        if "List-Unsubscribe" in names:  # type: ignore[operator]
            continue  # acts for whoever holds the link, as RFC 8058 says: without cookie or token
        assert ("csrfmiddlewaretoken" in names) == (form["method"] == "post")  # type: ignore[operator]


def test_a_decision_form_carries_what_was_shown_and_where_to_go_next() -> None:
    for name in ("run", "run-clean", "run-queued", "run-looker", "campaign", "campaign-sending"):
        for form in Markup(render(*PAGES[name])).forms:
            if form["action"] == "/w/northwind/runs/1/decide/":
                assert {"shown", "next"} <= set(form["names"])  # type: ignore[call-overload]


def test_every_control_has_a_label_and_no_id_stands_twice(html: str) -> None:
    markup = Markup(html)
    ids = [attributes["id"] for _, attributes in markup.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    named = {label.get("for") for label in markup.all("label")}
    for place, (tag, attributes) in enumerate(markup.tags):
        if tag in CONTROLS and attributes.get("type") != "hidden":
            assert place in markup.wrapped or attributes.get("id") in named, attributes


def test_what_others_wrote_is_never_markup_and_never_invisible(html: str) -> None:
    assert "<script>" not in html
    assert not re.search("[\u200b-\u200f\u202a-\u202e\u2066-\u2069]", html)


def test_html_mail_stands_in_a_frame_that_may_do_nothing(html: str) -> None:
    for frame in Markup(html).all("iframe"):
        assert frame["sandbox"] == ""
        assert frame["title"]


def test_a_refused_form_is_switched_off_and_says_why() -> None:
    html = render(*PAGES["campaign-refused"])
    assert "Approving a campaign needs the role reviewer." in html
    assert html.count("<button disabled>") == 1
    assert '<textarea id="reject-reason"' in html


def test_a_fragment_is_what_its_page_holds() -> None:
    for fragment, page in (
        ("queue-live", "queue"),
        ("run-job", "run-queued"),
        ("campaign-progress", "campaign-sending"),
        ("setup-reading", "setup"),
        ("dataset-progress", "dataset"),
    ):
        assert _squeezed(render(*FRAGMENTS[fragment])) in _squeezed(render(*PAGES[page]))


def test_a_job_that_ended_is_asked_for_no_more() -> None:
    assert "hx-get" in render(*PAGES["run-queued"])
    assert "hx-get" not in render(*PAGES["entry"])


def test_the_gallery_shows_every_template() -> None:
    shown = {template.partition("#")[0] for template, _ in (*PAGES.values(), *FRAGMENTS.values())}
    reached = set()
    while shown:
        name = shown.pop()
        reached.add(name)
        text = (TEMPLATES / name).read_text()
        shown |= {
            used for used in re.findall(r'{% (?:include|extends) "([^"#]+)', text) if used not in reached
        }
    everything = {str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.html")}
    # A packet is no page but a file to keep: tests/views/test_packets.py looks at it.
    apart = ("allauth/elements/", "decisions/packet.html")
    assert {name for name in everything - reached if not name.startswith(apart)} == set()


def _squeezed(html: str) -> str:
    return re.sub(r"\s+", "", html)
