"""Which addresses the links in messages may begin with."""

import pytest

from approvals.rules.own_address import why_links_lead_nowhere


@pytest.mark.parametrize(
    "address",
    [
        "https://secondlook.example.com",
        "https://secondlook.example.com/",
        "https://desk.example/secondlook",
        "https://desk.example:8443",
        "https://203.0.113.7",
        "https://[2001:db8::1]:8443",
        "https://localhost.example",
    ],
)
def test_an_https_address_that_is_not_this_machine_does(address: str) -> None:
    assert why_links_lead_nowhere(address) == ""


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:8000",  # what is there where nobody set any
        "https://127.0.0.1",
        "https://127.9.9.9:8443/x",
        "https://localhost",
        "https://LOCALHOST.:8000",
        "https://desk.localhost",
        "https://[::1]:8000",
        "https://0.0.0.0",
        "https://[::]",
    ],
)
def test_a_link_to_the_machine_that_wrote_it_leads_nowhere(address: str) -> None:
    said = why_links_lead_nowhere(address)
    assert "which is this machine: set BASE_URL to the https:// address" in said
    assert said.count(".") - address.lower().count(".") == 1, "one sentence"


def test_nobody_unsubscribes_with_one_click_over_plain_http() -> None:
    said = why_links_lead_nowhere("http://desk.example")
    assert said.startswith(
        "Nobody could unsubscribe with one click, because BASE_URL is http://desk.example,"
    )


@pytest.mark.parametrize(
    "address",
    ["", "desk.example", "https://desk.example?a=b", "https://me@desk.example", "https://desk .example"],
)
def test_what_is_no_address_is_told_as_that(address: str) -> None:
    assert "no address to begin a link with: set BASE_URL" in why_links_lead_nowhere(address)
