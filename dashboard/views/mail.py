"""Caught mail: what `up` keeps instead of delivering it. Not there where mail really goes out."""

from pathlib import Path
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from approvals.access.actors import memberships_of
from dashboard.embedded import mailbox
from dashboard.forms.listed import ListForm, words
from dashboard.presenters import build_mail
from dashboard.views.frames import framed
from dashboard.views.refusals import sign_in_first
from dashboard.views.shell import render_page

SIZE = 50
SEARCHED = 2_000  # newest messages that a search looks at


class MailForm(ListForm):
    """The fields of the list's address."""

    q = words("Search")
    after = words("Place in the list")


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Caught messages, newest first."""
    if not request.user.is_authenticated:
        return sign_in_first(request)
    folder = _folder(request)
    values = MailForm(request.GET).asked()
    everything = mailbox.names(folder)[::-1]
    names, matching = everything, None
    if values["q"]:
        names = [
            name
            for name in everything[:SEARCHED]
            if build_mail.matches(mailbox.load(folder, name), values["q"])
        ]
        matching = len(names)
    behind = [name for name in names if not values["after"] or name < values["after"]]
    shown = build_mail.mail_list(
        caught=[mailbox.load(folder, name) for name in behind[:SIZE]],
        total=len(everything),
        matching=matching,
        words=values["q"],
        older=(urlencode({"q": values["q"], "after": behind[SIZE - 1]}) if len(behind) > SIZE else ""),
        now=timezone.now(),
    )
    return render_page(request, "mail/list.html", shown, current="mail")


@require_safe
def message(request: HttpRequest, name: str) -> HttpResponse:
    """One message."""
    if not request.user.is_authenticated:
        return sign_in_first(request)
    shown = build_mail.mail_message(_caught(request, name), timezone.now())
    return render_page(request, "mail/message.html", shown, current="mail")


@require_safe
def html(request: HttpRequest, name: str) -> HttpResponse:
    """Its HTML, for the frame."""
    if not request.user.is_authenticated:
        return sign_in_first(request)
    return framed(build_mail.read(_caught(request, name).raw).html)


@require_safe
def raw(request: HttpRequest, name: str) -> HttpResponse:
    """Its bytes, to keep."""
    if not request.user.is_authenticated:
        return sign_in_first(request)
    caught = _caught(request, name)
    response = HttpResponse(caught.raw, content_type="message/rfc822")
    response["Content-Disposition"] = f'attachment; filename="{caught.name}.eml"'
    return response


def _folder(request: HttpRequest) -> Path:
    """Where caught mail is; a page that is not there where mail is not caught, or for a member of nothing."""
    if not settings.MAIL_CATCHER_DIR or not memberships_of(request.user.pk or 0):
        raise Http404
    return Path(settings.MAIL_CATCHER_DIR)


def _caught(request: HttpRequest, name: str) -> mailbox.Caught:
    found = mailbox.read(_folder(request), name)
    if found is None:
        raise Http404
    return found
