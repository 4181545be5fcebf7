"""Signing in, and what of it this product changes."""

from typing import Any

import pytest
from django.core import mail
from django.test import Client

from tests.views.reading import Read
from tests.world import PASSWORD, World, stranger

NEW = "a new and longer phrase"


def sign_in(client: Client, email: str, password: str) -> Any:
    return client.post("/accounts/login/", {"login": email, "password": password})


def test_a_member_signs_in_and_out(world: World) -> None:
    client = Client()
    assert sign_in(client, world.people["support"].email, "wrong").status_code == 200
    assert client.get(world.at()).status_code == 302

    assert sign_in(client, world.people["support"].email.upper(), PASSWORD).status_code == 302
    assert client.get(world.at()).status_code == 200

    assert client.post("/accounts/logout/").status_code == 302
    assert client.get(world.at()).status_code == 302


def test_how_somebody_signed_in_is_known_to_the_log(world: World) -> None:
    client = Client()
    sign_in(client, world.people["support"].email, PASSWORD)

    actor = client.get(world.at()).wsgi_request.actor  # type: ignore[attr-defined]

    assert (actor.name, actor.roles, actor.sign_in) == ("Sam Okafor", ("support",), "password")


def test_a_password_is_changed(world: World) -> None:
    client = world.visit("support")

    answer = client.post(
        "/accounts/password/change/", {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}
    )

    assert answer.status_code == 302
    assert client.get(world.at()).status_code == 200
    assert sign_in(Client(), world.people["support"].email, NEW).status_code == 302


def test_a_forgotten_password_is_replaced_by_mail(world: World) -> None:
    email = world.people["support"].email
    assert Client().post("/accounts/password/reset/", {"email": email}).status_code == 302
    link = next(word for word in str(mail.outbox[0].body).split() if "/password/reset/key/" in word)
    client = Client()
    form = client.get(link.replace("http://testserver", ""), follow=True)
    path = form.redirect_chain[-1][0]

    assert client.post(path, {"password1": NEW, "password2": NEW}).status_code == 302
    assert sign_in(Client(), email, NEW).status_code == 302


def test_without_a_mail_server_that_is_said(world: World, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_PORT = 1

    page = Read(Client().post("/accounts/password/reset/", {"email": world.people["support"].email}))

    assert page.status == 503
    assert "Mail cannot be sent right now." in page


def test_nobody_signs_up(world: World) -> None:
    Client().post("/accounts/signup/", {"email": "new@example.com", "password1": NEW, "password2": NEW})

    assert sign_in(Client(), "new@example.com", NEW).status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "email/",
        "confirm-email/",
        "confirm-email/abc/",
        "password/set/",
        "login/code/confirm/",
        "reauthenticate/code/",
        "reauthenticate/code/confirm/",
    ],
)
def test_what_the_product_does_not_open_is_not_there(world: World, address: str) -> None:
    for client in (Client(), world.visit("admin")):
        for method in (client.get, client.post):
            assert method(f"/accounts/{address}").status_code == 404


def test_signing_in_leads_nowhere_else(world: World) -> None:
    answer = Client().post(
        "/accounts/login/?next=https://evil.example/",
        {"login": world.people["support"].email, "password": PASSWORD, "next": "https://evil.example/"},
    )

    assert answer.headers["Location"] == "/"


@pytest.mark.django_db
def test_somebody_who_is_no_member_anywhere_can_still_sign_in() -> None:
    client = Client()
    assert sign_in(client, stranger().email, PASSWORD).status_code == 302
    assert client.get("/").status_code == 200
