"""Every address of the product, and what each kind of caller is answered there. The one list to add a new address to.

Addresses are written as the resolver has them, converters without their names: `w/<slug>/runs/<uuid>/`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

from django.urls import URLPattern, URLResolver, get_resolver

from approvals.rules.permissions import ROLES, roles_with

ANONYMOUS, STRANGER = "anonymous", "stranger"  # not signed in; signed in, and a member of no workspace
CALLERS = (ANONYMOUS, STRANGER, *ROLES)

OPENED = frozenset({200})
SIGN_IN = frozenset({302})
LEADS_ON = frozenset({302})
SIGNED_OUT = frozenset({403})
NOT_YOURS = frozenset({403})
NOTHING = frozenset({404})
WRONG_METHOD = frozenset({405})
DECIDED = frozenset({303, 409, 422})  # done, or refused for what was asked, never for who asks


@dataclass(frozen=True)
class Address:
    """One address. `reads` and `decides` name the permission that a GET and a POST need; None: there is no such call.

    `about` is which thing of the scene its last id names; `leads_on` where a GET without a permission to need leads to
    the page of the form.
    """

    route: str
    reads: str | None = None
    decides: str | None = None
    about: str = ""
    query: str = ""
    form: dict[str, str] = field(default_factory=dict)
    leads_on: bool = False

    def get(self, caller: str) -> frozenset[int]:
        """What a GET is answered."""
        if caller == ANONYMOUS:
            return SIGN_IN
        if caller == STRANGER:
            return NOTHING
        if self.reads is None:
            return LEADS_ON if self.leads_on else WRONG_METHOD
        return OPENED if caller in roles_with(self.reads) else NOT_YOURS

    def post(self, caller: str) -> frozenset[int]:
        """What a POST is answered."""
        if caller == ANONYMOUS:
            return SIGNED_OUT
        if caller == STRANGER:
            return NOTHING
        if self.decides is None:
            return WRONG_METHOD
        return DECIDED if caller in roles_with(self.decides) else NOT_YOURS


REASON = {"reason": "", "comment": ""}  # too short, so that nothing is decided while everybody tries
IN_A_WORKSPACE = (
    Address("w/<slug>/", reads="view"),
    Address("w/<slug>/live/", reads="view"),
    Address("w/<slug>/subjects/", reads="view", query="?name=ann"),
    Address("w/<slug>/authority", reads="read_log", query="?q=ann@example.com"),
    Address("w/<slug>/decisions/", reads="read_log"),
    Address("w/<slug>/decisions/export", reads="export_log"),
    Address("w/<slug>/decisions/<uuid>/", reads="read_log", about="decision"),
    Address("w/<slug>/decisions/<uuid>/packet", reads="read_log", about="decision"),
    Address("w/<slug>/runs/<uuid>/", reads="view", about="run"),
    Address("w/<slug>/runs/<uuid>/replay", decides="replay", about="run"),
    Address("w/<slug>/runs/<uuid>/force", decides="force_replay", about="run", form=REASON),
    Address("w/<slug>/runs/<uuid>/declare-interrupted", decides="declare_interrupted", about="run", form=REASON),
    Address("w/<slug>/runs/<uuid>/dismiss", decides="dismiss", about="run", form=REASON),
    Address("w/<slug>/runs/<uuid>/reopen", decides="reopen", about="run", form=REASON),
    Address(
        "w/<slug>/runs/<uuid>/resolve-call", decides="resolve_run", about="run",
        form={**REASON, "target": "c1", "resolution": "leave"},
    ),
    Address("w/<slug>/runs/<uuid>/answer-calls", decides="answer_calls", about="run", form=REASON),
    Address("w/<slug>/runs/<uuid>/confirm-call", decides="confirm_call", about="run", form={"target": "c1"}),
    Address("w/<slug>/runs/<uuid>/reject-call", decides="reject_call", about="run", form={**REASON, "target": "c1"}),
    Address("w/<slug>/jobs/<uuid>/stop", decides="stop_replay", about="job"),
    Address("w/<slug>/jobs/<uuid>/", reads="view", about="job"),
    Address("w/<slug>/jobs/<uuid>/cancel", decides="cancel_replay", about="job"),
    Address("w/<slug>/jobs/<uuid>/resume", decides="resume_replay", about="job"),
    Address("w/<slug>/jobs/<uuid>/resume-send", decides="resume_send", about="send_job"),
    Address("w/<slug>/jobs/<uuid>/give-up", decides="cancel_send", about="again_job"),
    Address(
        "w/<slug>/jobs/<uuid>/resolve", decides="resolve_run", about="job", form={**REASON, "resolution": "leave"}
    ),
    Address("w/<slug>/datasets/", reads="view"),
    Address("w/<slug>/datasets/upload", decides="import_audience"),
    Address("w/<slug>/datasets/<uuid>/", reads="view", about="dataset"),
    Address("w/<slug>/datasets/<uuid>/live", reads="view", about="dataset"),
    Address("w/<slug>/suppressions/", reads="view"),
    Address("w/<slug>/suppressions/add", decides="suppress"),
    Address("w/<slug>/suppressions/<uuid>/release", decides="release_suppressed", about="suppression", form=REASON),
    Address("w/<slug>/campaigns/new/", reads="propose", decides="propose"),
    Address("w/<slug>/campaigns/<uuid>/new-version", reads="propose", decides="propose", about="campaign"),
    Address("w/<slug>/campaigns/<uuid>/", reads="view", about="campaign"),
    Address("w/<slug>/campaigns/<uuid>/message/<uuid>", reads="view", about="delivery"),
    Address("w/<slug>/campaigns/<uuid>/message/<uuid>/source", reads="view", about="delivery"),
    Address("w/<slug>/campaigns/<uuid>/attachments/<uuid>", reads="view", about="attached"),
    Address("w/<slug>/campaigns/<uuid>/live", reads="view", about="campaign"),
    Address("w/<slug>/campaigns/<uuid>/recipients", reads="view", about="campaign", query="?show=lacking&q=ann"),
    Address("w/<slug>/campaigns/<uuid>/recipients.csv", reads="view", about="campaign"),
    Address("w/<slug>/campaigns/<uuid>/approve", decides="approve", about="campaign"),
    Address("w/<slug>/campaigns/<uuid>/versions/<number>/", reads="view", about="campaign"),
    Address("w/<slug>/campaigns/<uuid>/versions/<number>/recipients", reads="view", about="campaign", query="?q=ann"),
    Address("w/<slug>/campaigns/<uuid>/versions/<number>/recipients.csv", reads="view", about="campaign"),
    Address("w/<slug>/campaigns/<uuid>/return", decides="return_campaign", about="campaign", form=REASON),
    Address("w/<slug>/campaigns/<uuid>/pause", decides="pause_send", about="campaign"),
    Address("w/<slug>/campaigns/<uuid>/go-on", decides="resume_send", about="campaign"),
    Address("w/<slug>/campaigns/<uuid>/approve-at", reads="view", decides="approve", about="campaign"),
    Address("w/<slug>/campaigns/<uuid>/reject", decides="reject", about="campaign", form=REASON),
    Address("w/<slug>/campaigns/<uuid>/take-back", decides="cancel_send", about="campaign"),
    Address("w/<slug>/campaigns/<uuid>/stop", decides="stop_send", about="campaign", form=REASON),
    Address("w/<slug>/campaigns/<uuid>/tell-again", decides="tell_again", about="campaign"),
    Address("w/<slug>/campaigns/<uuid>/test", reads="view", about="campaign"),
    Address("w/<slug>/deliveries/<uuid>/test", decides="send_test", about="delivery"),
    Address(
        "w/<slug>/deliveries/<uuid>/resolve", decides="resolve_campaign", about="delivery",
        form={**REASON, "resolution": "leave"},
    ),
    Address("w/<slug>/setup/", reads="set_up"),
    Address("w/<slug>/setup/add", decides="set_up", leads_on=True),
    Address("w/<slug>/setup/sending", decides="set_up", leads_on=True),
    Address("w/<slug>/setup/<uuid>/", reads="set_up", about="runtime"),
    Address("w/<slug>/setup/<uuid>/callback", decides="set_up", about="runtime"),
    Address("w/<slug>/setup/<uuid>/live", reads="set_up", about="runtime"),
    Address("w/<slug>/setup/<uuid>/database", decides="set_up", about="runtime"),
    Address("w/<slug>/setup/<uuid>/campaign-tools", reads="set_up", about="runtime"),
    Address("w/<slug>/setup/<uuid>/campaign-tools/change", decides="set_up", about="runtime"),
)  # fmt: skip

# Outside of any workspace: what (anonymous, stranger, member) are answered to a GET and to a POST.
ELSEWHERE: dict[str, tuple[tuple[int, int, int], tuple[int, int, int]]] = {
    "": ((302, 200, 302), (405, 405, 405)),
    "mail/": ((302, 404, 200), (405, 405, 405)),
    "mail/<name>/": ((302, 404, 200), (405, 405, 405)),
    "mail/<name>/html/": ((302, 404, 200), (405, 405, 405)),
    "mail/<name>/raw/": ((302, 404, 200), (405, 405, 405)),
    "u/<token>": ((404, 404, 404), (404, 404, 404)),
    "healthz": ((200, 200, 200), (405, 405, 405)),
    "readyz": ((503, 503, 503), (405, 405, 405)),
    "accounts/login/": ((200, 302, 302), (200, 302, 302)),
    "accounts/logout/": ((302, 200, 200), (302, 302, 302)),
    "accounts/inactive/": ((200, 200, 200), (405, 405, 405)),
    "accounts/signup/": ((200, 302, 302), (200, 302, 302)),  # says that nobody signs up
    "accounts/reauthenticate/": ((302, 200, 200), (302, 200, 200)),
    "accounts/password/change/": ((302, 200, 200), (302, 200, 200)),
    "accounts/password/reset/": ((200, 200, 200), (200, 200, 200)),
    "accounts/password/reset/done/": ((200, 200, 200), (405, 405, 405)),
    "accounts/password/reset/key/done/": ((200, 200, 200), (405, 405, 405)),
    "accounts/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$": ((200, 200, 200), (200, 200, 200)),
    # Not opened here, see dashboard/urls.py.
    "accounts/email/": ((404, 404, 404), (404, 404, 404)),
    "accounts/confirm-email/": ((404, 404, 404), (404, 404, 404)),
    "accounts/confirm-email/<key>/": ((404, 404, 404), (404, 404, 404)),
    "accounts/^confirm-email/(?P<key>[-:\\w]+)/$": ((404, 404, 404), (404, 404, 404)),
    "accounts/password/set/": ((404, 404, 404), (404, 404, 404)),
    "accounts/login/code/confirm/": ((404, 404, 404), (404, 404, 404)),
    "accounts/reauthenticate/code/": ((404, 404, 404), (404, 404, 404)),
    "accounts/reauthenticate/code/confirm/": ((404, 404, 404), (404, 404, 404)),
}

# The machine API: the methods of each address. Whoever has no token is answered 401, whoever they are on the pages.
API: dict[str, tuple[str, ...]] = {
    "api/v1/runs": ("GET", "POST"),
    "api/v1/runs/<uuid>": ("GET",),
    "api/v1/runs/<uuid>/events": ("POST",),
    "api/v1/runs/<uuid>/replay": ("POST",),
    "api/v1/campaigns": ("POST",),
    "api/v1/campaigns/<uuid>": ("GET",),
    "api/v1/datasets": ("POST",),
    "api/v1/datasets/<uuid>": ("GET",),
    "api/v1/attachments": ("POST",),
}
# What of it anybody may read, and what they are answered.
API_OPEN = {
    "api/v1/openapi.json": 200,
    "api/v1/docs": 200,
    "api/v1/": 404,
    "api/v1/^(?P<rest>.*)$": 404,
}


def routes() -> set[str]:
    """Every address that the resolver knows."""
    return {_plain(route) for route in _walk(get_resolver().url_patterns, "")}


def _walk(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[str]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, route)
        else:
            yield route


def _plain(route: str) -> str:
    """Converters without what does not matter here: `<uuid:run_id>` is `<uuid>`, `<str:name>` is `<name>`."""
    for long, short in (
        ("<slug:slug>", "<slug>"),
        ("<str:name>", "<name>"),
        ("<str:key>", "<key>"),
        ("<str:token>", "<token>"),
        ("<int:number>", "<number>"),
    ):
        route = route.replace(long, short)
    for kind in ("uuid", "uuidstr"):
        while (start := route.find(f"<{kind}:")) >= 0:
            route = f"{route[:start]}<uuid>{route[route.index('>', start) + 1 :]}"
    return route


def path_of(route: str, slug: str = "", *ids: UUID | str) -> str:
    """The path of a route, its ids filled in from the left."""
    path = "/" + route.replace("<slug>", slug)
    for id in ids:
        path = path.replace("<uuid>", str(id), 1)
    for pattern, example in (
        ("^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$", "password/reset/key/1-abc/"),
        ("^confirm-email/(?P<key>[-:\\w]+)/$", "confirm-email/abc/"),
        ("^(?P<rest>.*)$", "nowhere"),
        ("<key>", "abc"),
        ("<token>", "abc"),
        ("<number>", "1"),
    ):
        path = path.replace(pattern, example)
    return path
