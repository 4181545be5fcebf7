"""The addresses of a campaign, within a workspace."""

from django.urls import URLPattern, path

from dashboard.views import (
    attachments,
    callbacks,
    campaigns,
    proposals,
    recipients,
    scheduling,
    trials,
    versions,
)

_ONE = "campaigns/<uuid:campaign_id>/"
_VERSION = f"{_ONE}versions/<int:number>/"

campaign_routes: list[URLPattern] = [
    path("campaigns/new/", proposals.new, name="campaign_new"),
    path(_ONE, campaigns.page, name="campaign"),
    path(f"{_ONE}new-version", proposals.new_version, name="campaign_new_version"),
    path(f"{_ONE}live", campaigns.live, name="campaign_live"),
    path(f"{_ONE}message/<uuid:delivery_id>", campaigns.message, name="campaign_message"),
    path(f"{_ONE}message/<uuid:delivery_id>/source", attachments.source, name="campaign_source"),
    path(f"{_ONE}attachments/<uuid:attached_id>", attachments.download, name="campaign_attachment"),
    path(f"{_ONE}recipients", recipients.page, name="campaign_recipients"),
    path(f"{_ONE}recipients.csv", recipients.export, name="campaign_recipients_csv"),
    path(_VERSION, versions.page, name="campaign_version"),
    path(f"{_VERSION}recipients", recipients.page, name="campaign_version_recipients"),
    path(f"{_VERSION}recipients.csv", recipients.export, name="campaign_version_recipients_csv"),
    path(f"{_ONE}approve", campaigns.approve, name="campaign_approve"),
    path(f"{_ONE}approve-at", scheduling.approve_at, name="campaign_approve_at"),
    path(f"{_ONE}return", campaigns.return_, name="campaign_return"),
    path(f"{_ONE}reject", campaigns.reject, name="campaign_reject"),
    path(f"{_ONE}take-back", campaigns.take_back, name="campaign_take_back"),
    path(f"{_ONE}pause", campaigns.pause, name="campaign_pause"),
    path(f"{_ONE}go-on", campaigns.go_on, name="campaign_go_on"),
    path(f"{_ONE}stop", campaigns.stop, name="campaign_stop"),
    path(f"{_ONE}tell-again", callbacks.tell_again, name="campaign_tell_again"),
    path(f"{_ONE}test", trials.live, name="campaign_test"),
    path("deliveries/<uuid:delivery_id>/test", trials.send, name="delivery_test"),
    path("deliveries/<uuid:delivery_id>/resolve", campaigns.resolve, name="deliveries_resolve"),
]
