"""Every address of the product. A test lists them all with every role."""

from django.urls import URLPattern, URLResolver, include, path

from dashboard.views import health

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("accounts/", include("allauth.account.urls")),
    path("api/v1/", include("approvals.api.urls")),
]
