"""The three agents, and the runs that the demo opens with."""

from dashboard.demo.steps import Call, Die, Fail, KeepRunning, Lose, Say, Scene, Script

AGENTS: dict[str, Script] = {
    "refund-assistant": (
        Say("{first_name} asks for a refund of order {order}. I look the customer up first."),
        Call("lookup_customer", {"email": "{email}"}),
        Say("The order is within its 30 days. I confirm the refund of {amount}."),
        Call(
            "send_email",
            {
                "to": "{email}",
                "subject": "Your refund for order {order}",
                "text": "Hello {first_name},\n\nwe have refunded {amount} for order {order}.\n\nYour shop\n",
            },
        ),
        Call("create_ticket", {"title": "Refund of order {order} paid", "customer": "{email}"}),
        Say("The refund is confirmed and filed under {ticket}."),
    ),
    "ticket-triage": (
        Say("A new request came in: {text}"),
        Call("lookup_customer", {"email": "{email}"}),
        Call("create_ticket", {"title": "{text}", "customer": "{email}"}),
        Say("{first_name}'s request is now {ticket}."),
    ),
    "newsletter-writer": (
        Say("I write the {issue} newsletter for the {list}."),
        Call("propose_campaign", {"campaign": "{campaign}"}),
        Say("The campaign waits for a person."),
    ),
}

_refund, _triage, _newsletter = (
    AGENTS["refund-assistant"],
    AGENTS["ticket-triage"],
    AGENTS["newsletter-writer"],
)

SCENES: tuple[Scene, ...] = (
    Scene(
        "refund-4711",
        "refund-assistant",
        "mara.lindqvist@mail.example",
        "email",
        (*_refund[:4], Die()),
        {
            "first_name": "Mara",
            "email": "mara.lindqvist@mail.example",
            "order": "4711",
            "amount": "49.90 EUR",
            "text": "My blender arrived broken. Please refund order 4711.",
        },
    ),
    Scene(
        "refund-4718",
        "refund-assistant",
        "tomas.okafor@mail.example",
        "email",
        (_refund[0], Die()),
        {
            "first_name": "Tomas",
            "email": "tomas.okafor@mail.example",
            "order": "4718",
            "amount": "18.00 EUR",
            "text": "I was charged twice for order 4718.",
        },
    ),
    Scene(
        "ticket-5127",
        "ticket-triage",
        "priya.raman@mail.example",
        "webform",
        (_triage[0], Lose(), Say("Done: I have taken care of everything for {first_name}."), Die()),
        {
            "first_name": "Priya",
            "email": "priya.raman@mail.example",
            "text": "Can the delivery come to my office instead?",
        },
    ),
    Scene(
        "ticket-5130",
        "ticket-triage",
        "jonas.weber@mail.example",
        "webform",
        (_triage[0], Fail("The model is busy and did not answer (429 Too Many Requests).")),
        {
            "first_name": "Jonas",
            "email": "jonas.weber@mail.example",
            "text": "The invoice for June is missing.",
        },
    ),
    Scene(
        "newsletter-autumn",
        "newsletter-writer",
        "news-team@mail.example",
        "schedule",
        (*_newsletter, KeepRunning()),
        {"issue": "autumn", "list": "kitchen club", "campaign": "newsletter-autumn"},
    ),
)
