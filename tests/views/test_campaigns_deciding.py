"""Deciding about a campaign on its page."""

from uuid import uuid4

import pytest
from django.test import Client

from approvals.access.actors import Actor
from approvals.models import Campaign, Decision, Job
from approvals.services import deliveries, jobs, sending
from dashboard.forms.shown import pack
from tests.views.forms import form_of, forms_of, offered, send
from tests.views.of_campaign_pages import COMMENT, kinds, page, troubled
from tests.views.reading import Read
from tests.world import World, signed_in

# Deciding.


def test_an_approval_says_queued_and_is_followed_from_there(world):
    campaign, client = world.campaign(), world.visit("reviewer")
    form = form_of(client.get(world.at(f"campaigns/{campaign.id}/")), "/approve")
    answered = send(client, form)
    assert (answered.status_code, answered["Location"]) == (303, world.at(f"campaigns/{campaign.id}/"))
    after = client.get(answered["Location"])
    read = Read(after)
    assert "Approved. Sending is queued: it starts as soon as a worker has it" in read
    assert "Waits for a worker; it can be taken back until one begins with it." in read
    assert offered(after) == {"take-back", "pause", "stop"}, "the page shows those that are possible"
    assert "data-cancellable" in read.html and "data-stoppable" not in read.html
    assert "hx-get" in read.html
    entry = world.read(lambda: Decision.objects.get(kind="approve"))
    assert entry.opened_at is not None and entry.sign_in


def test_a_double_click_is_a_harmless_success(world):
    campaign, client = world.campaign(), world.visit("reviewer")
    form = form_of(client.get(world.at(f"campaigns/{campaign.id}/")), "/approve")
    send(client, form)
    again = send(client, form)
    assert again.status_code == 303
    assert "You already approved this campaign. Nothing happened twice." in Read(
        client.get(again["Location"])
    )
    assert world.read(Job.objects.count) == 1


def test_the_second_reviewer_is_told_who_was_first_and_why(world):
    campaign, late = world.campaign(), world.visit("reviewer")
    form = form_of(late.get(world.at(f"campaigns/{campaign.id}/")), "/reject")
    kim = signed_in(world.person("reviewer"))
    mine = form_of(kim.get(world.at(f"campaigns/{campaign.id}/")), "/reject")
    send(kim, mine, comment=COMMENT)
    answered = send(late, form, comment="I would have said so too.")
    read = Read(answered)
    assert answered.status_code == 409
    assert "Kim Both was first" in read and COMMENT in read and "I would have said so too." in read
    assert kinds(world) == ["reject"]


@pytest.mark.parametrize("comment", ["", "no", "x" * 10_000, "a null \0 in it"])
def test_a_comment_that_is_not_right_comes_back_as_it_was_typed(world, comment):
    campaign, client = world.campaign(), world.visit("reviewer")
    form = form_of(client.get(world.at(f"campaigns/{campaign.id}/")), "/reject")
    answered = send(client, form, comment=comment)
    assert answered.status_code == 422
    assert form_of(answered, "/reject").texts["comment"] == comment
    assert kinds(world) == []


def test_another_version_is_told_and_nothing_happens(world):
    campaign, client = world.campaign(), world.visit("reviewer")
    shown = pack(target=campaign.id, user_id=str(world.people["reviewer"].pk), digest="0" * 64)
    answered = client.post(world.at(f"campaigns/{campaign.id}/approve"), {"shown": shown})
    assert answered.status_code == 409 and "It changed since you looked" in Read(answered)
    assert kinds(world) == []


def test_an_approval_is_taken_back_and_can_be_given_again(world):
    campaign, client = world.campaign(), world.visit("reviewer")
    address = world.at(f"campaigns/{campaign.id}/")
    send(client, form_of(client.get(address), "/approve"))
    form = form_of(client.get(address), "/take-back")
    send(client, form)
    assert "Taken back. Nothing was sent, and the campaign waits for a decision again." in Read(
        client.get(address)
    )
    send(client, form_of(client.get(address), "/approve"))
    assert kinds(world) == ["approve", "cancel_send", "approve"]


def test_a_running_campaign_is_stopped_with_a_reason(world):
    campaign, client = world.campaign(), world.visit("reviewer")
    address = world.at(f"campaigns/{campaign.id}/")
    world.approved(campaign)
    with world.bound():
        sending.begin(held=jobs.claim(job_id=Job.objects.get().id, task_id="t"))
    shown = client.get(address)
    assert "0 of 2 sent so far." in Read(shown) and offered(shown) == {"pause", "stop"}
    wrong = send(client, form_of(shown, "/stop"), reason="no")
    assert wrong.status_code == 422 and form_of(wrong, "/stop").texts["reason"] == "no"
    send(client, form_of(shown, "/stop"), reason="The wrong list was used.")
    read = Read(client.get(address))
    assert "Stopped. What had not left by then is skipped." in read
    assert "0 of 2 sent, 2 skipped." in read


# Deliveries that wait for a person.


def test_deliveries_in_doubt_and_failed_ones_have_a_form_each(world):
    campaign, rows = troubled(world, "sent", "in_doubt", "failed", "failed")
    shown = page(world, campaign)
    forms = [form for form in forms_of(shown) if form.action.endswith("/resolve")]
    assert forms[0].ticks == {
        "delivery": [str(rows[1].id)],
        "resolution": ["happened", "do_again", "leave"],
    }
    assert forms[1].ticks["delivery"] == [str(rows[2].id), str(rows[3].id)]
    assert forms[1].ticks["resolution"] == ["do_again", "leave"]
    assert "1 delivery in doubt" in Read(shown) and "2 failed deliveries" in Read(shown)


def settle(world, campaign, **given):
    client = world.visit("reviewer")
    form = form_of(client.get(world.at(f"campaigns/{campaign.id}/")), "/resolve")
    return client, form, send(client, form, **given)


def test_many_failed_deliveries_are_left_at_once_each_with_an_entry_of_its_own(world):
    campaign, rows = troubled(world, "failed", "failed", "sent")
    ids = [str(row.id) for row in rows[:2]]
    client, _, answered = settle(world, campaign, delivery=ids, resolution="leave", reason=COMMENT)
    assert "Settled: 2 deliveries." in Read(client.get(answered["Location"]))
    assert kinds(world)[-2:] == ["resolve_delivery", "resolve_delivery"]


def test_sending_again_says_queued_and_makes_one_job(world):
    campaign, rows = troubled(world, "failed")
    client, form, answered = settle(
        world, campaign, delivery=[str(rows[0].id)], resolution="do_again", reason=COMMENT
    )
    read = Read(client.get(answered["Location"]))
    assert "Settled: 1 delivery." in read and "hx-get" in read.html
    assert "1 on the way once more." in read
    again = send(client, form, delivery=[str(rows[0].id)], resolution="do_again", reason=COMMENT)
    assert "Nothing happened twice." in Read(client.get(again["Location"]))
    assert world.read(lambda: Job.objects.filter(delivery_id=rows[0].id).count()) == 1


def test_what_somebody_else_settled_meanwhile_is_told_and_nothing_of_the_rest_happens(world):
    campaign, rows = troubled(world, "failed", "failed")
    client = world.visit("reviewer")
    form = form_of(client.get(world.at(f"campaigns/{campaign.id}/")), "/resolve")
    kim = world.person("reviewer")
    with world.bound():
        deliveries.resolve(
            by=Actor("member", str(kim.pk), "Kim Both", ("reviewer",)),
            delivery_id=rows[0].id,
            shown=world.shown(campaign),
            resolution="leave",
            reason=COMMENT,
        )
    ids = [str(row.id) for row in rows]
    answered = send(client, form, delivery=ids, resolution="leave", reason=COMMENT)
    assert answered.status_code == 409 and "Kim Both was first" in Read(answered)
    assert kinds(world) == ["approve", "resolve_delivery"]
    assert send(client, form, delivery=ids[1:], resolution="leave", reason=COMMENT).status_code == 303


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"delivery": []}, "Tick at least one."),
        ({"delivery": ["\0"]}, "One of them could not be read"),
        ({"delivery": ["x" * 10_000]}, "One of them could not be read"),
        ({"delivery": [str(uuid4()) for _ in range(201)]}, "Settle at most 200"),
        ({"resolution": ""}, "Say whether it happened"),
        ({"resolution": "x" * 10_000}, "Say whether it happened"),
        ({"reason": "no"}, "Give a reason of at least 10 characters"),
        ({"reason": "y" * 10_000}, "Keep the reason under"),
    ],
)
def test_what_is_not_right_comes_back_beside_its_field(world, wrong, error):
    campaign, rows = troubled(world, "failed", "failed")
    given = {"delivery": [str(rows[0].id)], "resolution": "leave", "reason": COMMENT} | wrong
    _, _, answered = settle(world, campaign, **given)
    assert answered.status_code == 422 and error in Read(answered)
    form = form_of(answered, "/resolve")
    assert form.texts["reason"] == given["reason"]
    kept = [one for one in given["delivery"] if one == str(rows[0].id)]
    assert form.fields.get("delivery", []) == kept
    assert kinds(world) == ["approve"]


def test_a_delivery_of_another_campaign_is_not_found(world):
    campaign, _ = troubled(world, "failed")
    _, others = troubled(world, "failed")
    for id in (str(others[0].id), str(uuid4())):
        _, _, answered = settle(world, campaign, delivery=[id], resolution="leave", reason=COMMENT)
        assert answered.status_code == 404


# Bad input.

ACTS = ["approve", "return", "reject", "take-back", "pause", "go-on", "stop"]


@pytest.mark.parametrize("act", ACTS)
def test_a_get_decides_nothing(world, act):
    assert world.visit("reviewer").get(world.at(f"campaigns/{world.campaign().id}/{act}")).status_code == 405


@pytest.mark.parametrize("act", ACTS)
def test_a_form_that_the_page_never_made_for_this_person_is_refused_in_one_sentence(world, act):
    campaign, other = world.campaign(), world.campaign()
    mia, digest = str(world.people["reviewer"].pk), world.shown(campaign).digest
    client = world.visit("reviewer")
    for value in (
        None,
        "",
        "\0",
        "x" * 10_000,
        pack(target=other.id, user_id=mia, digest=digest),
        pack(target=campaign.id, user_id="999999", digest=digest),
    ):
        data = {"reason": COMMENT, "comment": COMMENT, "resolution": "leave"}
        answered = client.post(
            world.at(f"campaigns/{campaign.id}/{act}"), data | ({} if value is None else {"shown": value})
        )
        assert answered.status_code == 422
        assert "This form does not belong to the page you see." in Read(answered)
    assert kinds(world) == []
    assert world.read(lambda: Campaign.objects.get(id=campaign.id)).status == "pending"


@pytest.mark.parametrize("act", ACTS)
def test_another_workspaces_campaign_is_the_same_404_as_an_unknown_one(world, act):
    theirs = World.create("Southwind").campaign()
    client = world.visit("reviewer")
    for id in (theirs.id, uuid4(), "nonsense"):
        assert client.post(world.at(f"campaigns/{id}/{act}"), {"reason": COMMENT}).status_code == 404
    for path in ("", "live"):
        assert client.get(world.at(f"campaigns/{theirs.id}/{path}")).status_code == 404


@pytest.mark.parametrize("act", ACTS)
def test_whoever_may_not_is_told_which_role_may_before_anything_else(world, act):
    answered = world.visit("support").post(world.at(f"campaigns/{world.campaign().id}/{act}"))
    assert answered.status_code == 403 and "role reviewer" in Read(answered)


def test_decisions_need_the_token_of_the_page(world):
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.people["reviewer"])
    assert client.post(world.at(f"campaigns/{world.campaign().id}/approve")).status_code == 403


# The same for deliveries, whose address names one of them.


def test_a_get_of_a_resolution_decides_nothing(world):
    _, [row] = troubled(world, "failed")
    assert world.visit("reviewer").get(world.at(f"deliveries/{row.id}/resolve")).status_code == 405


def test_a_resolution_asks_first_whether_it_is_there_then_who_may_then_what_was_shown(world):
    _, [row] = troubled(world, "failed")
    southwind = World.create("Southwind")
    _, [theirs] = troubled(southwind, "failed")
    mia = str(world.people["reviewer"].pk)
    for id in (theirs.id, uuid4()):
        assert world.visit("reviewer").post(world.at(f"deliveries/{id}/resolve")).status_code == 404
    refused = world.visit("support").post(world.at(f"deliveries/{row.id}/resolve"))
    assert refused.status_code == 403 and "role reviewer" in Read(refused)
    for value in ("", "\0", "x" * 10_000, pack(target=uuid4(), user_id=mia, digest="0" * 64)):
        data = {"shown": value, "delivery": str(row.id), "resolution": "leave", "reason": COMMENT}
        answered = world.visit("reviewer").post(world.at(f"deliveries/{row.id}/resolve"), data)
        assert answered.status_code == 422
    assert kinds(world) == ["approve"]
