"""The page of one campaign: exactly what would be sent and to whom, and how far it is."""

import html
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.conf import settings

from approvals.models import Job
from approvals.rules.content import envelope_for
from approvals.rules.decisions import NOBODY_REACHED
from approvals.rules.messages import build
from approvals.rules.permissions import why_not
from approvals.services import jobs, sending
from approvals.services.suppressions import link_for
from tests.services import sends
from tests.views.forms import form_of, offered, send
from tests.views.of_campaign_pages import deliveries, page, troubled, without_date
from tests.views.reading import Read
from tests.world import World

# What is shown.


def test_the_first_recipient_is_shown_unless_another_is_asked_for(world):
    campaign = world.campaign()
    ann, bob = deliveries(world, campaign)
    read = Read(page(world, campaign))
    assert "To ann@example.com" in read and "1 of 2" in read
    assert "Dear Ann," in read and "Hello Ann" in read
    other = Read(page(world, campaign, to=str(bob.id)))
    assert "To bob@example.com" in other and "2 of 2" in other
    assert "To bob@example.com" in Read(page(world, campaign, to="BOB@example.com"))
    assert ann.message_id in read and bob.message_id in other


def test_H05_whoever_is_written_to_at_all_is_said_where_that_is_not_everybody(world, settings):
    settings.ALLOWED_RECIPIENT_DOMAINS = ["shop.example"]
    assert "Only recipients at shop.example are written to here" in Read(page(world, world.campaign()))
    settings.ALLOWED_RECIPIENT_DOMAINS = []
    assert "ALLOWED_RECIPIENT_DOMAINS" not in Read(page(world, world.campaign()))


def test_the_preview_is_what_the_worker_sends_byte_for_byte_but_for_the_date(world):
    campaign = world.campaign(recipients=["ann@example.com"])
    shown = page(world, campaign).content.decode()
    world.approved(campaign)
    with world.bound():
        job = Job.objects.get(campaign_id=campaign.id)
        held = jobs.claim(job_id=job.id, task_id="t")
        sealed = sending.begin(held=held)
        intent = sends.next_intent(held=held, sealed=sealed)
    envelope, _ = envelope_for(
        sealed.content,
        delivery_id=str(intent.delivery_id),
        to=intent.address,
        variables={"name": "Ann"},
        message_id=intent.message_id,
        date=intent.date,
        unsubscribe=link_for(intent.delivery_id, settings.BASE_URL),
    )
    assert envelope.headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    source = shown[shown.index('<pre class="source"') :].split(">", 1)[1].split("</pre>")[0]
    previewed = html.unescape(source).replace("\n", "\r\n").encode()
    assert without_date(previewed) == without_date(build(envelope))
    address = world.at(f"campaigns/{campaign.id}/message/{intent.delivery_id}/source")
    kept = world.visit("reviewer").get(address)
    assert kept.content == build(envelope), "dated too, once it is on its way"
    assert kept["Content-Type"] == "message/rfc822" and "attachment" in kept["Content-Disposition"]


def test_a_field_without_a_value_is_flagged_for_this_and_for_every_other_recipient(world):
    campaign = world.campaign(html="<p>{{ name }} {{ seat }}</p>")
    read = Read(page(world, campaign))
    assert "Nothing is known for seat: it stays in the message just as it was written." in read
    assert "2 recipients" in read.text[read.text.index("Who gets it") :]


def test_nothing_is_flagged_where_nothing_is_missing(world):
    read = Read(page(world, world.campaign()))
    assert "Nothing is known for" not in read


def test_each_excluded_address_stands_with_its_reason(world):
    read = Read(page(world, world.campaign()))
    assert "1 gets nothing, and why" in read
    assert "no address" in read and "row 3" in read
    assert "2 will get it if you approve" in read and "1 excluded" in read and "3 in the list" in read


def test_a_long_list_of_excluded_addresses_comes_in_pages(world):
    names = ["ann@example.com", *(f"nobody {number}" for number in range(60))]
    campaign = world.campaign(recipients=names)
    first = Read(page(world, campaign))
    assert "nobody 49" in first and "nobody 50" not in first
    more = world.visit("reviewer").get(first.links["More →"].split("#")[0])
    assert "nobody 50" in Read(more) and "nobody 49" not in Read(more)
    assert "⇤ Back to the first page" in Read(more).links


def test_among_many_recipients_the_address_is_typed(world):
    campaign = world.campaign(recipients=[f"guest{number}@example.com" for number in range(110)])
    read = Read(page(world, campaign, to="guest65@example.com"))
    assert "66 of 110" in read and "To guest65@example.com" in read
    nobody = Read(page(world, campaign, to="nobody@example.com"))
    assert "No message goes to this address." in nobody
    assert 'value="nobody@example.com"' in nobody.html


@pytest.mark.parametrize(
    "asked",
    [
        {"to": "\0"},
        {"to": "x" * 9_000},
        {"to": str(uuid4())},
        {"to": "<script>alert(1)</script>"},
        {"excluded": "-1"},
        {"excluded": "9" * 40},
        {"excluded": "²"},
        {"failed": "-9"},
        {"in_doubt": "\0"},
        {"back": "\0" * 50},
    ],
)
def test_nonsense_in_the_address_breaks_nothing(world, asked):
    answered = page(world, world.campaign(), **asked)
    assert answered.status_code == 200
    assert "<script>alert" not in answered.content.decode()


def test_a_recipient_of_another_campaign_is_nobody_here(world):
    theirs = deliveries(world, world.campaign(recipients=["eve@example.com"]))[0]
    read = Read(page(world, world.campaign(), to=str(theirs.id)))
    assert "eve@example.com" not in read.text and "To ann@example.com" in read


def test_the_html_part_has_a_frame_that_can_run_nothing_and_load_nothing(world):
    campaign = world.campaign(html="<p>Hello <b>{{ name }}</b><script>alert(1)</script></p>")
    first, _ = deliveries(world, campaign)
    shown = page(world, campaign).content.decode()
    address = world.at(f"campaigns/{campaign.id}/message/{first.id}")
    assert f'<iframe sandbox="" referrerpolicy="no-referrer" loading="lazy" src="{address}"' in shown
    framed = world.visit("reviewer").get(address)
    assert "Hello <b>Ann</b>" in framed.content.decode()
    policy = framed["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "sandbox" in policy and "img-src data:" in policy
    assert "script-src" not in policy and "allow-scripts" not in policy


def test_the_frame_shows_deliveries_of_its_own_campaign_only(world):
    campaign, client = world.campaign(), world.visit("reviewer")
    other = deliveries(world, world.campaign(recipients=["eve@example.com"]))[0]
    theirs = World.create("Southwind")
    foreign = deliveries(theirs, theirs.campaign())[0]
    for id in (other.id, foreign.id, uuid4()):
        assert client.get(world.at(f"campaigns/{campaign.id}/message/{id}")).status_code == 404


def test_htmx_gets_the_preview_alone(world):
    campaign = world.campaign()
    _, bob = deliveries(world, campaign)
    answered = world.visit("reviewer").get(
        world.at(f"campaigns/{campaign.id}/"),
        {"to": str(bob.id)},
        HTTP_HX_REQUEST="true",
        HTTP_HX_TARGET="preview",
    )
    html = answered.content.decode()
    assert "bob@example.com" in html and "<html" not in html and "Approve" not in html


def test_text_of_others_is_shown_and_never_obeyed(world):
    campaign = world.campaign(
        "<script>alert(1)</script>\u202e", recipients=["ann@example.com", "<b>x</b>"], agent="<u>a</u>"
    )
    html = page(world, campaign).content.decode()
    for mark in ("<script>alert", "<b>x", "<u>a"):
        assert mark not in html
    assert "right-to-left override" in html


def test_a_campaign_that_reaches_nobody_can_only_be_returned_or_rejected(world):
    campaign = world.campaign(recipients=["nobody"])
    answered = page(world, campaign)
    assert offered(answered) == {"return", "reject"}
    assert NOBODY_REACHED in Read(answered)
    refused = send(world.visit("reviewer"), form_of(answered, "/approve"))
    assert refused.status_code == 409 and NOBODY_REACHED in Read(refused), "the same sentence"


def test_soon_is_too_late_and_said(world):
    campaign = world.campaign(send_by=datetime.now(UTC) - timedelta(minutes=5))
    assert "send-by passed" in Read(page(world, campaign))


@pytest.mark.parametrize("role", ["support", "manager", "admin"])
def test_who_may_not_sees_the_forms_switched_off_with_the_one_sentence_why(world, role):
    answered = page(world, world.campaign(), role)
    assert offered(answered) == set()
    assert why_not("approve") in Read(answered) and why_not("reject") in Read(answered)


# Live.


def live(world, campaign, role="manager"):
    return world.visit(role).get(world.at(f"campaigns/{campaign.id}/live"), HTTP_HX_REQUEST="true")


def test_the_fragment_counts_by_state_and_stops_asking_at_the_end(world):
    campaign, _ = troubled(world, "sent", "failed", "in_doubt")
    html = live(world, campaign).content.decode()
    assert "Finished with problems" in html and "1 of 3 sent" in html and "hx-get" not in html
    for words in ("<strong>1</strong> sent", "<strong>1</strong> failed", "<strong>1</strong> in doubt"):
        assert words in html


def test_while_it_moves_the_fragment_asks_again(world):
    campaign = world.campaign()
    world.approved(campaign)
    html = live(world, campaign).content.decode()
    assert "hx-get" in html and "data-cancellable" in html
