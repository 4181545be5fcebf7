"""What a member types to propose a campaign, or another version of one: the terms, the message, and to whom.

Nothing that is typed is cut short or corrected in silence; who gets it is always said, and never what is left over
where a filter is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from approvals.exceptions import Invalid
from approvals.rules.addresses import Refused, check_header, check_mailbox, check_recipient
from approvals.rules.attachments import Wanted
from approvals.rules.fields import LONG, NOTE, SHORT, TEXT
from approvals.rules.proposals import Proposal, Recipient
from dashboard.forms.shown import pack, unpack
from dashboard.forms.whom import Whom, filter_names
from dashboard.presenters.text import plain

if TYPE_CHECKING:
    from approvals.models import Dataset

MOST_TYPED = 200  # addresses in a list that is typed by hand
MISSING = "This is missing."
_BOTH = "You chose everybody and named a filter too. Choose only some of the rows, or leave the filter empty."
# How the services call what stands in a field of another name here.
_FIELDS = {"from": "sender", "where": "value", "dataset_id": "dataset"}


def _mailbox(value: str) -> None:
    found = check_mailbox(value)
    if isinstance(found, Refused):
        raise ValidationError(found.reason)


def _uncut(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if name != "maxlength"}


class Line(forms.CharField):
    """One line of text, without anything in it that could begin another one."""

    def __init__(self, label: str, *, longest: int = LONG, **more: Any) -> None:
        too_long = f"Keep this under {longest:,} characters."
        errors = {"required": MISSING, "max_length": too_long}
        super().__init__(label=label, max_length=longest, strip=False, error_messages=errors, **more)

    def to_python(self, value: Any) -> str:
        """Without the spaces around it; any other blank is told, not taken out."""
        return (super().to_python(value) or "").strip(" ")

    def validate(self, value: str) -> None:
        """Refuse what starts a line."""
        super().validate(value)
        if reason := check_header(value):
            raise ValidationError(reason)

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        """Without a length, at which a browser would cut off what is pasted."""
        return {**_uncut(super().widget_attrs(widget)), "autocomplete": "off"}


class Body(forms.CharField):
    """A text of several lines, exactly as it is typed."""

    def __init__(self, label: str, *, longest: int, rows: int, **more: Any) -> None:
        super().__init__(
            label=label,
            max_length=longest,
            strip=False,
            widget=forms.Textarea(attrs={"rows": rows}),
            error_messages={"required": MISSING, "max_length": f"Keep this under {longest:,} characters."},
            **more,
        )

    def to_python(self, value: Any) -> str:
        """With line ends as everywhere but in forms."""
        return (super().to_python(value) or "").replace("\r\n", "\n")

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        """Without a length, as in `Line`."""
        return _uncut(super().widget_attrs(widget))


class ProposalForm(forms.Form):
    """The terms and the message; who gets it is asked by the forms that follow."""

    name = Line("Name of the campaign", longest=SHORT, help_text="What your colleagues find it by.")
    purpose = Body(
        "Why these people get it", longest=NOTE, rows=2, required=False, help_text="For whoever decides."
    )
    # Help is printed as markup.
    sender = Line(
        "From",
        validators=[_mailbox],
        help_text="One address, with a name if you like: Shop &lt;news@shop.example&gt;",
    )
    reply_to = Line(
        "Reply to",
        validators=[_mailbox],
        required=False,
        help_text="Where answers go, if not to the address above.",
    )
    subject = Line("Subject")
    text = Body("Text", longest=TEXT, rows=12)
    html = Body(
        "HTML", longest=TEXT, rows=5, required=False, help_text="Optional: the same message with formatting."
    )
    send_by = forms.DateTimeField(
        label="Send by (UTC)",
        required=False,
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"],
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text="Optional: after this it cannot be approved any more.",
        error_messages={"invalid": "Write a day and a time, such as 2026-05-04 13:30."},
    )

    def told(self, *, external_id: str, attachments: Sequence[Wanted] = ()) -> Proposal:
        """The proposal as the services take it; only of a form that is valid."""
        given = self.cleaned_data
        terms = {
            name: given[name] for name in ("name", "purpose", "sender", "reply_to", "subject", "text", "html")
        }
        return Proposal(
            external_id=external_id, run_id=None, send_by=given["send_by"], attachments=attachments, **terms,
            **self.audience(),
        )  # fmt: skip

    def audience(self) -> dict[str, Any]:
        """The members of the proposal that say who gets it."""
        raise NotImplementedError

    def refused(self, invalid: Invalid) -> None:
        """Put what a service refused beside its field."""
        field = _FIELDS.get(invalid.field or "", invalid.field)
        self.add_error(field if field in self.fields else None, invalid.text)


class TypedForm(ProposalForm):
    """To a few addresses that are typed by hand."""

    recipients = Body(
        "Addresses", longest=MOST_TYPED * 600, rows=5, help_text=f"One on each line, up to {MOST_TYPED}."
    )
    field_order = ("name", "purpose", "recipients")

    def clean_recipients(self) -> list[Recipient]:
        """Each as it is written to."""
        lines = self.cleaned_data["recipients"].split("\n")
        found = []
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            address = check_recipient(line)
            if isinstance(address, Refused):
                raise ValidationError(f"Line {number}: {address.reason}")
            found.append(Recipient(address.normal, {}))
        if not found:
            raise ValidationError(MISSING)
        if len(found) > MOST_TYPED:
            raise ValidationError(
                f"These are {len(found):,} addresses. Import more than {MOST_TYPED} as a list."
            )
        return found

    def audience(self) -> dict[str, Any]:
        """Those who were typed."""
        return {"recipients": self.cleaned_data["recipients"]}


class ListedForm(Whom, ProposalForm):
    """To the rows of one imported list, all of them or those with a value."""

    who = forms.ChoiceField(label="Who gets it", error_messages={"required": "Say who gets it."})
    column = forms.ChoiceField(
        label="Only rows whose column",
        required=False,
        error_messages={"invalid_choice": "The list has no such column to filter by."},
    )
    value = Line("has exactly this value", longest=SHORT, required=False)
    field_order = ("name", "purpose", "who", "column", "value")

    def __init__(self, *given: Any, dataset: Dataset, **more: Any) -> None:
        super().__init__(*given, **more)
        self.dataset = dataset
        everybody = f"Everybody on the list: {dataset.addressable:,} can be reached"
        _choices(self, "who", {"all": everybody, "some": "Only rows with the value below"})
        # By number: a name may hold what nobody sees, and is looked up rather than sent there and back.
        usable = frozenset(filter_names(dataset))
        self.columns = {
            str(number): name for number, name in enumerate(dataset.columns, start=1) if name in usable
        }
        _choices(self, "column", {"": "", **{number: plain(name) for number, name in self.columns.items()}})

    def list_chosen(self) -> Dataset:
        """The one list that there is here."""
        return self.dataset

    def column_chosen(self) -> str:
        """By its number."""
        return str(self.columns.get(self.chosen("column"), ""))

    def clean(self) -> None:
        """A filter is whole, or there is none."""
        _check_filter(self, who=self.cleaned_data.get("who", ""))

    def audience(self) -> dict[str, Any]:
        """The list, and which of its rows."""
        given = self.cleaned_data
        where = {self.columns[given["column"]]: given["value"]} if given["who"] == "some" else None
        return {"dataset_id": self.dataset.id, "where": where}


class VersionForm(Whom, ProposalForm):
    """Another version of a campaign: to whoever got nothing yet, or to an imported list."""

    who = forms.ChoiceField(label="Who gets it", error_messages={"required": "Say who gets it."})
    dataset = forms.ChoiceField(
        label="List",
        required=False,
        error_messages={"invalid_choice": "There is no such list, or it is not ready."},
    )
    column = Line("Only rows whose column", longest=SHORT, required=False)
    value = Line("has exactly this value", longest=SHORT, required=False)
    field_order = ("name", "purpose", "who", "dataset", "column", "value")

    def __init__(self, *given: Any, rest: int, lists: Sequence[Dataset], **more: Any) -> None:
        super().__init__(*given, **more)
        self.lists = lists
        people = "person" if rest == 1 else "people"
        of_lists = {"all": "Everybody on the list below", "some": "Rows of that list with a value"}
        _choices(
            self,
            "who",
            {"rest": f"Whoever got nothing yet: {rest:,} {people}"} | (of_lists if lists else {}),
        )
        named = {str(one.id): f"{plain(one.name)[:100]}: {one.addressable:,} can be reached" for one in lists}
        _choices(self, "dataset", {"": "", **named})
        if not lists:
            for name in ("dataset", "column", "value"):
                del self.fields[name]

    def list_chosen(self) -> Dataset | None:
        """One of those that were offered."""
        return next((one for one in self.lists if str(one.id) == self.chosen("dataset")), None)

    def column_chosen(self) -> str:
        """As it is typed, if the list has it."""
        dataset, name = self.list_chosen(), self.chosen("column")
        return name if dataset is not None and name in filter_names(dataset) else ""

    def clean(self) -> None:
        """Either the rest or a list; and a filter is whole, or there is none."""
        who, given = self.cleaned_data.get("who", ""), self.cleaned_data
        if who == "rest" and (given.get("dataset") or given.get("column") or given.get("value")):
            self.add_error("who", "You chose who got nothing yet and a list too. Choose one of them.")
        elif who in ("all", "some") and not given.get("dataset") and "dataset" not in self.errors:
            self.add_error("dataset", "Choose the list.")
        else:
            _check_filter(self, who=who)

    def audience(self) -> dict[str, Any]:
        """The rest, or the list and which of its rows."""
        given = self.cleaned_data
        if given["who"] == "rest":
            return {"rest": True}
        where = {given["column"]: given["value"]} if given["who"] == "some" else None
        return {"dataset_id": UUID(given["dataset"]), "where": where}


def as_typed(form: ProposalForm, post: QueryDict) -> dict[str, str]:
    """What stands in the fields of a form that is not judged yet."""
    return {name: post.get(name) or "" for name in form.fields if name in post}


def _choices(form: forms.Form, field: str, texts: dict[str, str]) -> None:
    form.fields[field].choices = [*texts.items()]  # type: ignore[attr-defined]


def _check_filter(form: forms.Form, *, who: str) -> None:
    column, value = form.cleaned_data.get("column", ""), form.cleaned_data.get("value", "")
    if who == "all" and (column or value):
        form.add_error("who", _BOTH)
    if who == "some" and not column and "column" not in form.errors:
        form.add_error("column", "Say which column it is.")
    if who == "some" and not value and "value" not in form.errors:
        form.add_error("value", "Say which value is meant. An empty one would pick nobody.")


def fresh_id(user_id: str) -> tuple[str, str]:
    """(the id of what this form will propose, the proof that we made it for this member)."""
    made = uuid4()
    return str(made), pack(target=made, user_id=user_id, digest="")


def id_of(post: QueryDict, *, user_id: str) -> tuple[str, str]:
    """The same as a form brings them back; Invalid for what we never made for this member."""
    try:
        made = UUID(post.get("external_id", ""))
    except ValueError:
        made = UUID(int=0)
    proof = post.get("shown") or ""
    unpack(proof, target=made, user_id=user_id)
    return str(made), proof
