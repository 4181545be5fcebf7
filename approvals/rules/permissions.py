"""Who may: the permissions of each role, and the permission each kind of decision needs.

What the state of an object allows is another question, answered by rules.states and rules.verdict.
"""

from collections.abc import Iterable, Mapping

ROLE_PERMISSIONS: Mapping[str, frozenset[str]] = {
    "support": frozenset(
        {
            "view",
            "replay",
            "force_replay",
            "declare_interrupted",
            "dismiss",
            "reopen",
            "resolve_run",
            "cancel_replay",
            "resume_replay",
            "answer_calls",
            "stop_replay",
            "propose",
            "import_audience",
            "suppress",
            "read_log",
        }
    ),
    "reviewer": frozenset(
        {
            "view",
            "approve",
            "reject",
            "return_campaign",
            "propose",
            "resolve_campaign",
            "cancel_send",
            "pause_send",
            "stop_send",
            "resume_send",
            "send_test",
            "tell_again",
            "confirm_call",
            "reject_call",
            "import_audience",
            "suppress",
            "release_suppressed",
            "read_log",
        }
    ),
    "manager": frozenset({"view", "read_log", "export_log"}),
    "admin": frozenset({"view", "read_log", "set_up"}),
}

ROLES = tuple(ROLE_PERMISSIONS)

# What a permission lets somebody do; completes "Only ... may".
PERMISSION_TEXT: Mapping[str, str] = {
    "view": "look at this workspace",
    "replay": "start a run again",
    "force_replay": "force a run to start again",
    "declare_interrupted": "declare a run interrupted",
    "dismiss": "dismiss a run",
    "reopen": "reopen a run",
    "resolve_run": "resolve what is in doubt about a run",
    "cancel_replay": "take a replay back",
    "answer_calls": "answer the open calls of a run",
    "stop_replay": "stop a replay that goes on",
    "confirm_call": "confirm a held tool call",
    "reject_call": "reject a held tool call",
    "approve": "approve a campaign",
    "reject": "reject a campaign",
    "return_campaign": "return a campaign to its proposer",
    "propose": "propose a campaign",
    "resolve_campaign": "resolve what is in doubt about a delivery",
    "cancel_send": "take an approval back",
    "pause_send": "pause a campaign",
    "stop_send": "stop a campaign",
    "resume_replay": "let a paused replay go on",
    "resume_send": "let a paused sending go on",
    "send_test": "send themselves a test of a message",
    "tell_again": "have an agent told again",
    "import_audience": "import a list of recipients",
    "suppress": "say that an address is not to be written to",
    "release_suppressed": "let an address be written to again",
    "read_log": "read the decisions",
    "export_log": "export the decisions",
    "set_up": "set this workspace up",
}

PERMISSIONS = frozenset(PERMISSION_TEXT)

PERMISSION_FOR_DECISION: Mapping[str, str] = {
    "replay": "replay",
    "force_replay": "force_replay",
    "declare_interrupted": "declare_interrupted",
    "dismiss": "dismiss",
    "reopen": "reopen",
    "resolve_run": "resolve_run",
    "replay_again": "resolve_run",
    "answer_calls": "answer_calls",
    "confirm_call": "confirm_call",
    "reject_call": "reject_call",
    "stop_replay": "stop_replay",
    "approve": "approve",
    "reject": "reject",
    "return_campaign": "return_campaign",
    "pause_send": "pause_send",
    "resolve_delivery": "resolve_campaign",
    "send_again": "resolve_campaign",
    "cancel_replay": "cancel_replay",
    "cancel_send": "cancel_send",
    "stop": "stop_send",
    "resume_replay": "resume_replay",
    "resume_send": "resume_send",
    "send_test": "send_test",
    "tell_again": "tell_again",
    "suppress": "suppress",
    "unsuppress": "release_suppressed",
}


def permissions_of(roles: Iterable[str]) -> frozenset[str]:
    """Everything that these roles together allow; a role nobody knows allows nothing."""
    return frozenset().union(*(ROLE_PERMISSIONS.get(role, frozenset()) for role in roles))


def allowed(roles: Iterable[str], permission: str) -> bool:
    """Whether one of the roles has the permission; KeyError for a permission that does not exist."""
    if permission not in PERMISSIONS:
        raise KeyError(permission)
    return permission in permissions_of(roles)


def roles_with(permission: str) -> tuple[str, ...]:
    """The roles that have the permission, in the order of the table."""
    return tuple(role for role, held in ROLE_PERMISSIONS.items() if permission in held)


def why_not(permission: str) -> str:
    """The sentence for somebody without the permission: which role may, and so whom to ask."""
    able = roles_with(permission)
    if len(able) == len(ROLES):
        return f"Only a member of this workspace may {PERMISSION_TEXT[permission]}; an admin can add you."
    named = " or ".join(able)
    return f"Only members with the role {named} may {PERMISSION_TEXT[permission]}; ask one of them to do it."
