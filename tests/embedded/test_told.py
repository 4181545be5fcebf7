"""What the processes behind `up` are told."""

from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from dashboard.embedded import envfile, told
from dashboard.embedded.trouble import Trouble

OWN = dict.fromkeys(told.DATABASE_URLS, "postgres://elsewhere/db")


def test_secrets_are_made_once(tmp_path: Path) -> None:
    first, second = told.Secrets.of(tmp_path), told.Secrets.of(tmp_path)
    assert first == second
    assert len(set(first.values.values())) == len(first.values)
    assert (tmp_path / "secrets").stat().st_mode & 0o077 == 0


def test_the_field_key_is_one(tmp_path: Path) -> None:
    Fernet(told.Secrets.of(tmp_path).keys["FIELD_KEY"])


def test_a_secret_that_is_missing_is_made_and_the_others_stay(tmp_path: Path) -> None:
    before = dict(told.Secrets.of(tmp_path).values)
    kept = {name: value for name, value in before.items() if name != "BROKER_PASSWORD"}
    envfile.write(tmp_path / "secrets", kept)
    after = told.Secrets.of(tmp_path).values
    assert kept.items() <= after.items()
    assert after["BROKER_PASSWORD"]


def test_what_up_chose_the_last_time_does_not_count_as_named(tmp_path: Path) -> None:
    told.write_env(tmp_path, {"REDIS_URL": "redis://embedded", "BASE_URL": "http://old"}, {})
    last = envfile.read(tmp_path / "env")
    assert told.named({**last, "PATH": "/bin"}, last) == {"PATH": "/bin"}
    assert told.named({**last, "REDIS_URL": "redis://mine"}, last) == {"REDIS_URL": "redis://mine"}


def test_what_was_named_counts_as_named_the_next_time_too(tmp_path: Path) -> None:
    named = {"REDIS_URL": "redis://mine", "SECRET_KEY": "mine"}
    told.write_env(tmp_path, {"SECRET_KEY": "chosen", "BASE_URL": "http://here"}, named)
    last = envfile.read(tmp_path / "env")
    assert last["SECRET_KEY"] == "mine"
    assert told.named(last, last) == named


def test_a_database_is_named_by_all_three_urls_or_not_at_all() -> None:
    assert told.has_own_database(OWN)
    assert not told.has_own_database({})
    with pytest.raises(Trouble, match="lacks OWNER_DATABASE_URL;"):
        told.has_own_database({**OWN, "OWNER_DATABASE_URL": ""})


def test_what_runs_on_gets_an_empty_owner_not_none() -> None:
    """Settings would fill in an absent one from the env file."""
    assert told.without_owner({"OWNER_DATABASE_URL": "secret"})["OWNER_DATABASE_URL"] == ""
