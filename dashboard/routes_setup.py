"""The addresses on which a workspace is set up, within a workspace."""

from django.urls import URLPattern, path

from dashboard.views import campaign_tools, setup

_ONE = "setup/<uuid:runtime_id>/"

setup_routes: list[URLPattern] = [
    path("setup/", setup.page, name="setup"),
    path("setup/add", setup.add, name="runtime_add"),
    path("setup/sending", setup.sending, name="sending_set"),
    path(_ONE, setup.runtime, name="runtime"),
    path(f"{_ONE}live", setup.live, name="runtime_live"),
    path(f"{_ONE}database", setup.database, name="runtime_database"),
    path(f"{_ONE}campaign-tools", campaign_tools.page, name="campaign_tools"),
    path(f"{_ONE}campaign-tools/change", campaign_tools.change, name="campaign_tools_change"),
    path(f"{_ONE}callback", setup.callback, name="runtime_callback"),
]
