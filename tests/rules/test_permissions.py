"""Who may what: the whole table, role by role."""

import pytest

from approvals.rules.permissions import (
    PERMISSION_FOR_DECISION,
    PERMISSIONS,
    ROLE_PERMISSIONS,
    ROLES,
    allowed,
    permissions_of,
    why_not,
)

MAY = {
    "support": "view replay force_replay declare_interrupted dismiss reopen resolve_run cancel_replay"
    " resume_replay answer_calls stop_replay propose import_audience suppress read_log",
    "reviewer": "view approve return_campaign reject propose resolve_campaign cancel_send pause_send stop_send"
    " resume_send send_test tell_again confirm_call reject_call import_audience suppress release_suppressed read_log",
    "manager": "view read_log export_log",
    "admin": "view read_log set_up",
}


@pytest.mark.parametrize("permission", sorted(PERMISSIONS))
@pytest.mark.parametrize("role", MAY)
def test_each_role_may_exactly_what_is_listed(role, permission):
    assert allowed([role], permission) is (permission in MAY[role].split())


def test_the_list_above_knows_every_role():
    assert set(MAY) == set(ROLES)


def test_nobody_may_anything_without_a_role():
    assert permissions_of([]) == frozenset()


def test_a_role_nobody_knows_allows_nothing():
    assert permissions_of(["owner", "SUPPORT", ""]) == frozenset()


def test_two_roles_allow_what_either_allows():
    both = permissions_of(["support", "reviewer"])
    assert both == ROLE_PERMISSIONS["support"] | ROLE_PERMISSIONS["reviewer"]


def test_a_permission_that_does_not_exist_is_a_mistake_and_not_a_no():
    with pytest.raises(KeyError):
        allowed(["admin"], "fly")


@pytest.mark.parametrize("kind", PERMISSION_FOR_DECISION)
@pytest.mark.parametrize("role", ["manager", "admin"])
def test_managers_and_admins_decide_nothing(role, kind):
    assert not allowed([role], PERMISSION_FOR_DECISION[kind])


@pytest.mark.parametrize("kind", PERMISSION_FOR_DECISION)
def test_each_kind_of_decision_is_open_to_exactly_one_role(kind):
    roles = [role for role in ROLES if allowed([role], PERMISSION_FOR_DECISION[kind])]
    # Who asks to hear no more asks whoever answers; to let somebody be written to again is a reviewer's alone.
    assert len(roles) == (2 if kind == "suppress" else 1)


@pytest.mark.parametrize(
    ("kind", "permission"),
    [
        ("resolve_run", "resolve_run"),
        ("resolve_delivery", "resolve_campaign"),
        ("stop", "stop_send"),
        ("cancel_send", "cancel_send"),
        ("cancel_replay", "cancel_replay"),
    ],
)
def test_a_decision_needs_the_permission_of_its_subject(kind, permission):
    assert PERMISSION_FOR_DECISION[kind] == permission


@pytest.mark.parametrize("permission", sorted(PERMISSIONS))
def test_the_refusal_names_every_role_that_would_do(permission):
    sentence = why_not(permission)
    able = [role for role in ROLES if allowed([role], permission)]
    if able == list(ROLES):
        assert "Only a member of this workspace may" in sentence
    else:
        assert all(role in sentence for role in able)
    assert sentence.endswith(".")


def test_the_refusal_reads_like_this():
    assert why_not("approve") == (
        "Only members with the role reviewer may approve a campaign; ask one of them to do it."
    )
