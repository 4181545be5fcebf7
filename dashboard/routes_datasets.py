"""The addresses of lists of recipients, and of who is not to be written to, within a workspace."""

from django.urls import URLPattern, path

from dashboard.views import datasets, suppressions

dataset_routes: list[URLPattern] = [
    path("datasets/", datasets.page, name="datasets"),
    path("datasets/upload", datasets.upload, name="dataset_upload"),
    path("datasets/<uuid:dataset_id>/", datasets.one, name="dataset"),
    path("datasets/<uuid:dataset_id>/live", datasets.live, name="dataset_live"),
    path("suppressions/", suppressions.page, name="suppressions"),
    path("suppressions/add", suppressions.add, name="suppression_add"),
    path("suppressions/<uuid:suppression_id>/release", suppressions.release, name="suppression_release"),
]
