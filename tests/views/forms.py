"""Filling in the forms of a page the way a person does, and sending them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from django.test import Client


@dataclass
class Form:
    """One POST form of a page: where it goes and what it holds."""

    action: str
    fields: dict[str, list[str]] = field(default_factory=dict)
    ticks: dict[str, list[str]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    off: bool = False


class _Forms(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._form: Form | None = None
        self._area = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._form = Form(given.get("action", "")) if given.get("method") == "post" else None
            if self._form:
                self.forms.append(self._form)
        form = self._form
        if form is None:
            return
        if tag == "button" and "disabled" in given:
            form.off = True
        if tag == "textarea":
            self._area = given["name"]
            form.texts[self._area] = ""
        if tag == "input":
            name, value = given.get("name", ""), given.get("value", "")
            if given.get("type") in ("checkbox", "radio"):
                form.ticks.setdefault(name, []).append(value)
                if "checked" in given:
                    form.fields.setdefault(name, []).append(value)
            else:
                form.fields.setdefault(name, []).append(value)

    def handle_data(self, data: str) -> None:
        if self._form and self._area:
            self._form.texts[self._area] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = ""
        if tag == "form":
            self._form = None


def forms_of(response: Any) -> list[Form]:
    """Every POST form of a page."""
    return _Forms(response.content.decode()).forms


def form_of(response: Any, ending: str) -> Form:
    """The one form whose address ends like this."""
    found = [form for form in forms_of(response) if form.action.endswith(ending)]
    assert len(found) == 1, (ending, [form.action for form in forms_of(response)])
    return found[0]


def offered(response: Any) -> set[str]:
    """What can be decided on a page: the last words of the addresses of its forms that are not switched off.

    The test that everybody who reviews can send themselves decides nothing about what stands there.
    """
    return {
        form.action.rsplit("/", 1)[-1]
        for form in forms_of(response)
        if not form.off and "/accounts/" not in form.action and not form.action.endswith("/test")
    }


def send(client: Client, form: Form, **typed: Any) -> Any:
    """Send a form as it stands, with these fields filled in; not following the redirect."""
    data = {name: values for name, values in form.fields.items() if name != "csrfmiddlewaretoken"}
    return client.post(form.action, data | typed)
