"""What is typed to set a workspace up. A database address is never given back, not even with its mistake."""

from django import forms

from approvals.services.setup import HIGHEST_PACE, LONGEST_HOLD_S, LONGEST_NAME, LONGEST_SILENCE_S

_REQUIRED = {"required": "This is missing."}
_SECONDS = f"Write a whole number of seconds, from 1 to {LONGEST_SILENCE_S}."
_HOLD = f"Write a whole number of seconds, from 0 to {LONGEST_HOLD_S}."
_PACE = f"Write a whole number of messages, from 0 to {HIGHEST_PACE}."
_RANGE = ("invalid", "min_value", "max_value")


def _database(help_text: str) -> forms.CharField:
    return forms.CharField(
        label="Database address",
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=help_text,
        error_messages=_REQUIRED,
    )


class RuntimeForm(forms.Form):
    """An ADK runtime to be read."""

    name = forms.CharField(
        label="Name",
        max_length=LONGEST_NAME,
        help_text="What people call it, such as support-prod.",
        error_messages=_REQUIRED,
    )
    base_url = forms.CharField(
        label="Address of the ADK service",
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"}),
        help_text="Where adk api_server, or your own service, answers: http://10.0.0.5:8000",
        error_messages=_REQUIRED,
    )
    database_url = _database(
        "Where that service keeps its sessions: postgresql://user:password@host:5432/name. A role that may only read is"
        " enough. It is stored encrypted and never shown again."
    )
    silence_s = forms.IntegerField(
        label="Seconds of silence that interrupt a run",
        initial=300,
        min_value=1,
        max_value=LONGEST_SILENCE_S,
        help_text="A run without an end that says nothing for so long waits for a decision.",
        error_messages={**_REQUIRED, **dict.fromkeys(_RANGE, _SECONDS)},
    )
    hides_calls = forms.BooleanField(
        label="Its agents have tools whose own calls leave no trace in this database",
        required=False,
        help_text="Such as a tool that starts another agent. Then a run that shows no call proves nothing.",
    )


class DatabaseForm(forms.Form):
    """Another database address of a runtime that is read."""

    database_url = _database(
        "The whole address, with user and password: postgresql://user:password@host:5432/name. It replaces the one that"
        " is stored, which is never shown."
    )


class CampaignToolForm(forms.Form):
    """A tool whose calls propose campaigns."""

    tool = forms.CharField(
        label="Tool",
        max_length=LONGEST_NAME,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="As its calls name it, such as propose_campaign.",
        error_messages=_REQUIRED,
    )


class CallbackForm(forms.Form):
    """Where a runtime is told what became of its campaigns."""

    callback_url = forms.CharField(
        label="Callback address",
        required=False,
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"}),
        help_text="https://agents.example/callbacks; leave it empty, and nobody is told.",
    )


class SendingForm(forms.Form):
    """How the workspace sends what was approved."""

    hold_s = forms.IntegerField(
        label="Seconds in which an approval can be taken back",
        min_value=0,
        max_value=LONGEST_HOLD_S,
        help_text="Nothing is sent before they are over. 0: it is sent as soon as a worker has it.",
        error_messages={**_REQUIRED, **dict.fromkeys(_RANGE, _HOLD)},
    )
    messages_per_minute = forms.IntegerField(
        label="Messages a minute at most",
        min_value=0,
        max_value=HIGHEST_PACE,
        help_text="0: as many as the mail server takes.",
        error_messages={**_REQUIRED, **dict.fromkeys(_RANGE, _PACE)},
    )
