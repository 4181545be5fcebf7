"""What `manage.py check --deploy` says of ours."""

import io

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings


def checked(*words: str) -> str:
    """What the command ends with; nothing where it finds no error."""
    try:
        call_command("check", *words, stdout=io.StringIO(), stderr=io.StringIO())
    except CommandError as error:
        return str(error)
    return ""


def test_a_deployment_whose_links_lead_nowhere_is_told_so(settings: Settings) -> None:
    settings.BASE_URL = "http://127.0.0.1:8000"
    said = checked("--deploy")
    assert "(secondlook.E001) Links in messages would lead nowhere, because BASE_URL is" in said
    assert "set BASE_URL to the https:// address" in said


@pytest.mark.parametrize("address", ["https://desk.example", "https://desk.example:8443/x"])
def test_one_whose_links_lead_to_it_is_not(settings: Settings, address: str) -> None:
    settings.BASE_URL = address
    assert "secondlook" not in checked("--deploy")


def test_what_is_no_deployment_is_not_asked(settings: Settings) -> None:
    settings.BASE_URL = ""
    assert checked() == ""
