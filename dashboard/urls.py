"""Every address of the product. A test lists them all with every role."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("accounts/", include("allauth.account.urls")),
    path("api/v1/", include("approvals.api.urls")),
]
