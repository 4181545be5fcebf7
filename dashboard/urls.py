"""Every address of the product. A test lists them all with every role (tests/permissions)."""

from django.urls import URLPattern, URLResolver, include, path

from dashboard.routes import decide_routes
from dashboard.routes_campaigns import campaign_routes
from dashboard.routes_datasets import dataset_routes
from dashboard.routes_setup import setup_routes
from dashboard.views import authority, decisions, health, home, mail, queue, refusals, subjects, unsubscribe

# Read within a workspace; the middleware binds it by the slug.
read_routes: list[URLPattern] = [
    path("", queue.page, name="queue"),
    path("live/", queue.live, name="queue_live"),
    path("subjects/", subjects.page, name="subject"),
    path("authority", authority.page, name="authority"),
    path("decisions/", decisions.page, name="decisions"),
    path("decisions/export", decisions.export, name="decisions_export"),
    path("decisions/<uuid:decision_id>/", decisions.entry, name="decision"),
    path("decisions/<uuid:decision_id>/packet", decisions.packet, name="decision_packet"),
]

# What `up` caught instead of delivering it.
mail_routes: list[URLPattern] = [
    path("", mail.page, name="mail"),
    path("<str:name>/", mail.message, name="mail_message"),
    path("<str:name>/html/", mail.html, name="mail_html"),
    path("<str:name>/raw/", mail.raw, name="mail_raw"),
]

# allauth brings these along. Who a person is was settled when an operator added them, so nobody changes it here.
closed_routes: list[URLPattern] = [
    path(address, refusals.closed)
    for address in (
        "email/",
        "confirm-email/",
        "confirm-email/<str:key>/",
        "password/set/",
        "login/code/confirm/",
        "reauthenticate/code/",
        "reauthenticate/code/confirm/",
    )
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.page, name="home"),
    path(
        "w/<slug:slug>/",
        include([*read_routes, *decide_routes, *campaign_routes, *dataset_routes, *setup_routes]),
    ),
    path("u/<str:token>", unsubscribe.page, name="unsubscribe"),
    path("mail/", include(mail_routes)),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("accounts/", include([*closed_routes, path("", include("allauth.account.urls"))])),
    path("api/v1/", include("approvals.api.urls")),
]

handler404 = refusals.nothing_here
