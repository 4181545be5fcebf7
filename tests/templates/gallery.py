"""Every template with sample objects: what the structure tests read and what the browser tests look at."""

from __future__ import annotations

from typing import Any

from django import forms
from django.template import Context, loader
from django.test import RequestFactory

from tests.templates import (
    samples,
    samples_adk,
    samples_authority,
    samples_datasets,
    samples_more,
    samples_no,
    samples_proposals,
    samples_review,
    samples_run,
    samples_schedule,
    samples_setup,
    samples_told,
    samples_versions,
)
from tests.templates.samples import SHELL, Note


class SignIn(forms.Form):
    """The fields of a sign-in form, with one error each way."""

    login = forms.EmailField(label="E-mail")
    password = forms.CharField(
        widget=forms.PasswordInput, help_text='<a href="/reset/">Forgot your password?</a>'
    )
    remember = forms.BooleanField(label="Stay signed in", required=False)


def _wrong() -> SignIn:
    form = SignIn({"login": "sam"})
    form.add_error(None, "The e-mail address or the password is not right.")
    return form


NOTES = (
    Note("success", "Queued. You can follow it below."),
    Note("error", "That did not work: nothing was changed."),
)
PAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "queue": ("queue/page.html", {"shell": SHELL, "page": samples.QUEUE}),
    "queue-filtered": (
        "queue/page.html",
        {"shell": samples.ALARMED, "page": samples.QUEUE_FILTERED, "messages": NOTES},
    ),
    "queue-empty": ("queue/page.html", {"shell": samples.UNREAD, "page": samples.QUEUE_EMPTY}),
    "run": ("runs/page.html", {"shell": SHELL, "page": samples_run.RUN}),
    "run-errors": ("runs/page.html", {"shell": SHELL, "page": samples_run.RUN_ERRORS}),
    "run-clean": ("runs/page.html", {"shell": SHELL, "page": samples_run.RUN_CLEAN}),
    "run-queued": ("runs/page.html", {"shell": SHELL, "page": samples_run.RUN_QUEUED, "messages": NOTES[:1]}),
    "run-doubt": ("runs/page.html", {"shell": SHELL, "page": samples_run.RUN_DOUBT}),
    "run-paused": ("runs/page.html", {"shell": SHELL, "page": samples_run.RUN_PAUSED}),
    "run-adk": ("runs/page.html", {"shell": SHELL, "page": samples_adk.RUN_ADK}),
    "run-held": ("runs/page.html", {"shell": SHELL, "page": samples_adk.RUN_HELD}),
    "run-looker": ("runs/page.html", {"shell": SHELL, "page": samples_run.RUN_LOOKER}),
    "campaign": ("campaigns/page.html", {"shell": SHELL, "page": samples_more.CAMPAIGN}),
    "campaign-sending": (
        "campaigns/page.html",
        {"shell": samples.ALARMED, "page": samples_more.CAMPAIGN_SENDING},
    ),
    "campaign-paused": ("campaigns/page.html", {"shell": SHELL, "page": samples_more.CAMPAIGN_PAUSED}),
    "campaign-refused": ("campaigns/page.html", {"shell": SHELL, "page": samples_more.CAMPAIGN_REFUSED}),
    "campaign-time-wrong": (
        "campaigns/page.html",
        {"shell": SHELL, "page": samples_more.CAMPAIGN_TIME_WRONG},
    ),
    "campaign-untold": ("campaigns/page.html", {"shell": SHELL, "page": samples_told.CAMPAIGN_UNTOLD}),
    "campaign-told-again": (
        "campaigns/page.html",
        {"shell": SHELL, "page": samples_told.CAMPAIGN_TOLD_AGAIN},
    ),
    "campaign-versions": (
        "campaigns/page.html",
        {"shell": SHELL, "page": samples_versions.CAMPAIGN_VERSIONS},
    ),
    "campaign-returned": (
        "campaigns/page.html",
        {"shell": SHELL, "page": samples_versions.CAMPAIGN_RETURNED},
    ),
    "version": ("campaigns/version.html", {"shell": SHELL, "page": samples_versions.VERSION}),
    "campaign-quiet": ("campaigns/page.html", {"shell": SHELL, "page": samples_more.CAMPAIGN_QUIET}),
    "recipients": ("campaigns/recipients.html", {"shell": SHELL, "page": samples_review.RECIPIENTS}),
    "recipients-nobody": (
        "campaigns/recipients.html",
        {"shell": SHELL, "page": samples_review.RECIPIENTS_NOBODY},
    ),
    "subject": ("subjects/page.html", {"shell": SHELL, "page": samples.SUBJECT}),
    "log": ("decisions/page.html", {"shell": SHELL, "page": samples_more.LOG}),
    "log-refused": ("decisions/page.html", {"shell": SHELL, "page": samples_authority.LOG_REFUSED}),
    "log-empty": ("decisions/page.html", {"shell": SHELL, "page": samples_more.LOG_EMPTY}),
    "entry": ("decisions/entry.html", {"shell": SHELL, "page": samples_more.ENTRY}),
    "entry-campaign": ("decisions/entry.html", {"shell": SHELL, "page": samples_more.ENTRY_CAMPAIGN}),
    "authority": ("authority/page.html", {"shell": SHELL, "page": samples_authority.AUTHORITY}),
    "authority-empty": ("authority/page.html", {"shell": SHELL, "page": samples_authority.AUTHORITY_EMPTY}),
    "setup": ("setup/page.html", {"shell": samples_setup.SHELL, "page": samples_setup.SETUP}),
    "setup-wrong": ("setup/page.html", {"shell": samples_setup.SHELL, "page": samples_setup.SETUP_WRONG}),
    "setup-empty": ("setup/page.html", {"shell": samples_setup.SHELL, "page": samples_setup.SETUP_EMPTY}),
    "runtime": ("setup/runtime.html", {"shell": samples_setup.SHELL, "page": samples_setup.RUNTIME}),
    "campaign-tools": (
        "setup/campaign_tools.html",
        {"shell": samples_setup.SHELL, "page": samples_setup.TOOLS},
    ),
    "campaign-tools-none": (
        "setup/campaign_tools.html",
        {"shell": samples_setup.SHELL, "page": samples_setup.TOOLS_NONE},
    ),
    "runtime-http": (
        "setup/runtime.html",
        {"shell": samples_setup.SHELL, "page": samples_setup.RUNTIME_HTTP},
    ),
    "runtime-secret": (
        "setup/runtime.html",
        {"shell": samples_setup.SHELL, "page": samples_setup.RUNTIME_SECRET},
    ),
    "lists": ("datasets/list.html", {"shell": SHELL, "page": samples_datasets.LISTS}),
    "lists-wrong": ("datasets/list.html", {"shell": SHELL, "page": samples_datasets.LISTS_WRONG}),
    "lists-empty": ("datasets/list.html", {"shell": SHELL, "page": samples_datasets.LISTS_EMPTY}),
    "dataset": ("datasets/page.html", {"shell": SHELL, "page": samples_datasets.LIST}),
    "new-campaign": ("campaigns/new.html", {"shell": SHELL, "page": samples_proposals.CHOOSE}),
    "new-campaign-empty": ("campaigns/new.html", {"shell": SHELL, "page": samples_proposals.CHOOSE_EMPTY}),
    "write": ("campaigns/write.html", {"shell": SHELL, "page": samples_proposals.WRITE}),
    "write-wrong": ("campaigns/write.html", {"shell": SHELL, "page": samples_proposals.WRITE_WRONG}),
    "write-typed": ("campaigns/write.html", {"shell": SHELL, "page": samples_proposals.TYPED}),
    "write-version": ("campaigns/write.html", {"shell": SHELL, "page": samples_proposals.VERSION}),
    "write-version-late": ("campaigns/write.html", {"shell": SHELL, "page": samples_proposals.VERSION_LATE}),
    "write-version-closed": (
        "campaigns/write.html",
        {"shell": SHELL, "page": samples_proposals.VERSION_CLOSED},
    ),
    "suppressions": ("suppressions/page.html", {"shell": SHELL, "page": samples_datasets.SUPPRESSIONS}),
    "suppressions-empty": ("suppressions/page.html", {"shell": SHELL, "page": samples_datasets.NOBODY}),
    "unsubscribe": ("unsubscribe.html", {"state": "ask", "field": "List-Unsubscribe", "value": "One-Click"}),
    "unsubscribed": ("unsubscribe.html", {"state": "done"}),
    "unsubscribe-unknown": ("unsubscribe.html", {"state": "unknown"}),
    "decided": ("decided.html", {"shell": SHELL, "page": samples_no.DECIDED}),
    "stale": ("stale.html", {"shell": SHELL, "page": samples_no.STALE}),
    "refused": ("refused.html", {"shell": SHELL, "page": samples_no.REFUSED}),
    "home": ("home.html", {"shell": samples.HALL, "page": samples.HOME}),
    "home-empty": ("home.html", {"shell": samples.HALL, "page": samples.HOME_EMPTY}),
    "mail-list": ("mail/list.html", {"page": samples_no.MAIL_LIST}),
    "mail-message": ("mail/message.html", {"page": samples_no.MAIL_MESSAGE}),
    "login": ("account/login.html", {"form": SignIn()}),
    "login-wrong": ("account/login.html", {"form": _wrong()}),
    "logout": ("account/logout.html", {}),
    "password-reset": ("account/password_reset.html", {"form": SignIn()}),
    "password-reset-done": ("account/password_reset_done.html", {}),
    "password-key": ("account/password_reset_from_key.html", {"form": SignIn(), "action_url": "/x/"}),
    "password-key-old": ("account/password_reset_from_key.html", {"token_fail": True}),
    "password-key-done": ("account/password_reset_from_key_done.html", {}),
    "password-change": ("account/password_change.html", {"form": SignIn()}),
    "reauthenticate": ("account/reauthenticate.html", {"form": SignIn()}),
    "signup-closed": ("account/signup_closed.html", {}),
    "inactive": ("account/account_inactive.html", {}),
    "400": ("400.html", {}),
    "403": ("403.html", {}),
    "403-csrf": ("403_csrf.html", {}),
    "404": ("404.html", {}),
    "500": ("500.html", {}),
}
FRAGMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "queue-live": ("queue/page.html#live", {"live": samples.QUEUE.live}),
    "run-job": ("runs/page.html#job", {"job": samples_run.JOB}),
    "campaign-progress": ("campaigns/page.html#progress", {"progress": samples_more.PROGRESS}),
    "setup-reading": ("setup/page.html#reading", {"reading": samples_setup.READING}),
    "dataset-progress": ("datasets/page.html#progress", {"progress": samples_datasets.LIST.progress}),
    "campaign-test": ("campaigns/_trial.html#last", {"last": samples_review.TESTED}),
    "campaign-later": ("campaigns/_schedule.html#schedule", {"schedule": samples_schedule.LATER}),
    "campaign-later-stale": (
        "campaigns/_schedule.html#schedule",
        {"reload_url": "/w/northwind/campaigns/1/"},
    ),
    "version-preview": ("campaigns/version.html#preview", {"preview": samples_versions.VERSION.preview}),
    "write-whom": ("campaigns/write.html#whom", {"whom": samples_proposals.WHOM}),
    "campaign-preview": ("campaigns/page.html#preview", {"preview": samples_more.CAMPAIGN.preview}),
}


def render(template: str, context: dict[str, Any]) -> str:
    """The template's HTML, without context processors (which may want a database or a session)."""
    values = {"csrf_token": "csrf-of-this-page", "request": RequestFactory().get("/"), **context}
    found: Any = loader.get_template(template)
    return str(found.template.render(Context(values)))
