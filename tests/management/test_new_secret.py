"""`manage.py runtime new-secret`: a secret in place of one that got known, or cannot be read any more."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from pytest_django import Settings

from approvals.db.binding import bind
from approvals.models import Runtime
from approvals.services import secrets
from tests import cluster
from tests.cluster import TestServers
from tests.world import World

pytestmark = pytest.mark.django_db(transaction=True)


def new_secret(world: World, name: str) -> str:
    printed = io.StringIO()
    call_command("runtime", "new-secret", "--workspace", world.workspace.slug, "--name", name, stdout=printed)
    return printed.getvalue()


@pytest.fixture
def world(servers: TestServers, settings: Settings) -> World:
    settings.OWNER_DATABASE_URL = servers.cluster.url("owner", cluster.database_in_use())
    return World.create()


def test_it_is_shown_once_and_is_the_one_that_is_stored(world: World) -> None:
    printed = new_secret(world, world.runtime.name)
    assert f"Give it to {world.runtime.name} of {world.workspace.slug}" in printed
    with bind(world.workspace.id), transaction.atomic():
        stored = Runtime.objects.get(id=world.runtime.id)
    assert secrets.unseal(bytes(stored.signing_secret)) == printed.split()[-1]
    assert new_secret(world, world.runtime.name).split()[-1] != printed.split()[-1]
    with pytest.raises(CommandError, match='There is no runtime "nest"'):
        new_secret(world, "nest")


def test_nobody_makes_one_without_the_owners_credentials(world: World, settings: Settings) -> None:
    settings.OWNER_DATABASE_URL = ""
    with pytest.raises(CommandError, match="Set OWNER_DATABASE_URL"):
        new_secret(world, world.runtime.name)
