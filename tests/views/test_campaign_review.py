"""What the page of a campaign says beyond the message: findings, whom it reaches again, what changed."""

from approvals.db.binding import bind
from approvals.models import Delivery, Version
from tests import factories as f
from tests.views.of_campaign_pages import deliveries, page
from tests.views.reading import Read

EVIL = '<p>Dear {{ name }}, your departure moved.</p><a href="https://evil.example.net">https://bank.example.com</a>'


def test_a_misleading_link_is_named_with_its_words_and_its_target(world):
    read = Read(page(world, world.campaign(html=EVIL)))
    assert "Look closely" in read
    assert "https://evil.example.net" in read
    assert "Its words name another site than the one it leads to." in read
    assert "It leads to 1 address" in read


def test_findings_block_nothing_and_a_quiet_message_says_so(world):
    campaign = world.campaign(html=EVIL)
    assert "Approve for 2 people" in Read(page(world, campaign))
    plain = Read(page(world, world.campaign(html="")))
    assert "Approve for 2 people" in plain
    assert "Nothing in it tells a recipient how to get no more" not in plain, (
        "each message has the one-click link"
    )


def test_findings_are_of_the_message_that_is_shown_so_a_value_cannot_hide_a_link(world):
    """F06: what is looked at are the bytes for this recipient."""
    campaign = world.campaign(html="<p>{{ name }}</p><a href='{{ name }}'>Go</a>")
    read = Read(page(world, campaign))
    assert "It has no https:// before it" in read, "the value Ann, not the field"


def test_htmx_gets_the_findings_along_with_the_message(world):
    campaign = world.campaign(html=EVIL)
    _, bob = deliveries(world, campaign)
    answered = world.visit("reviewer").get(
        world.at(f"campaigns/{campaign.id}/"),
        {"to": str(bob.id)},
        headers={"HX-Request": "true", "HX-Target": "preview"},
    )
    assert "Its words name another site" in answered.content.decode()


def test_nothing_of_the_message_becomes_markup_of_the_page(world):
    html = '<a href="https://x.example.net/&quot;><script>alert(1)</script>">&lt;img src=x onerror=alert(1)&gt;</a>'
    answered = page(world, world.campaign('<b>"Winter"</b>', html=html))
    shown = answered.content.decode()
    assert "<script>alert" not in shown and "<img src=x" not in shown and "<b>" not in shown


def test_who_was_written_to_before_and_who_waits_elsewhere_is_named_while_it_can_be_decided(world):
    before = world.campaign()
    world.approved(before)
    world.sent(before, "sent", "failed")
    campaign = world.campaign()
    world.campaign(recipients=["bob@example.com"], agent="billing")
    read = Read(page(world, campaign))
    assert "1 of them was written to by this agent before: ann@example.com" in read
    assert "1 of them waits in another campaign that has not gone out yet: bob@example.com" in read
    assert "recipients?show=contacted" in read.html
    world.rejected(campaign)
    assert "written to by this agent before" not in Read(page(world, campaign))


def test_what_changed_against_the_nearest_approved_campaign_is_shown_by_words(world):
    before = world.campaign(
        "Autumn", html="<p>Hello, it moved.</p>", recipients=["ann@example.com", "eve@example.com"]
    )
    world.approved(before)
    read = Read(page(world, world.campaign(html="<p>Hello, it was moved.</p>")))
    about = read.text[read.text.index("What changed") :]
    assert (
        "Against “Autumn”, approved by Mia Berg just now" in about
        and "&lt;" not in read.html.split("What changed")[1]
    )
    assert "new: was" in about
    assert "The same as there: Sender, Subject and Text." in about
    assert (
        "1 recipient only here: bob@example.com" in about
        and "1 recipient only there: eve@example.com" in about
    )
    assert "1 recipient is in both lists." in about


def test_the_first_campaign_of_an_agent_says_that_there_is_nothing_to_compare_it_with(world):
    assert "No campaign of this agent that is anything like this one was approved before." in Read(
        page(world, world.campaign())
    )


def test_a_sender_from_another_domain_than_before_is_flagged(world):
    world.approved(world.campaign())
    campaign = world.campaign()
    assert "came from another domain" not in Read(page(world, campaign))
    other = world.campaign()
    with world.bound():
        old = Version.objects.get(campaign_id=other.id)
        second = Version.objects.create(
            workspace_id=old.workspace_id, campaign_id=other.id, number=2, from_address="x@northwind.example.net",
            subject_line=old.subject_line, text=old.text, html=old.html, digest="d2", sealed_at=old.sealed_at,
        )  # fmt: skip
        assert not Delivery.objects.filter(version_id=second.id).exists()
    read = Read(page(world, other))
    assert "now northwind.example.net, before northwind.example.com" in read
    assert "Against version 1, which nobody decided on" in read


def test_a_very_long_list_is_compared_when_somebody_asks(world, monkeypatch):
    monkeypatch.setattr("dashboard.views.reviewing.AT_ONCE", 1)
    campaign = world.campaign()
    read = Read(page(world, campaign))
    assert "it is done when you ask for it" in read and "Against" not in read
    asked = Read(world.visit("reviewer").get(read.links["Compare it now"]))
    assert "No campaign of this agent" in asked


def test_5_mb_of_nested_html_make_a_page_with_a_warning(world):
    html = "<div>" * 10_000 + "x" * 5_000_000
    read = Read(page(world, world.campaign(html=html)))
    assert "It is too long to look through." in read and "nested 10,000 deep" in read


def test_a_link_that_only_one_recipient_would_get_is_told_of_on_the_page(world):
    evil = "https://evil.example.net"
    people = [
        (f"guest{n}@example.com", {"name": evil if n == 7 else "Ann", "time": "09:40"}) for n in range(1, 9)
    ]
    with bind(world.workspace.id):
        campaign = f.campaign(to=people)
    read = Read(page(world, campaign))
    assert evil not in read, "the first recipient's message has none"
    assert "1 of them brings a link along in a value of their own: guest7@example.com" in read
    listed = Read(
        world.visit("reviewer").get(world.at(f"campaigns/{campaign.id}/recipients"), {"show": "linked"})
    )
    assert "guest7@example.com" in listed and "guest1@example.com" not in listed.text
    assert "a value of their own" not in Read(page(world, world.campaign()))
