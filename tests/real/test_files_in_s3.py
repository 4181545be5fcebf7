"""Files to attach, kept in S3: the settings that are meant for it, against a server that speaks it."""

import hashlib
from io import BytesIO
from typing import Any
from uuid import uuid4

import boto3
import pytest
from django.core.files.storage import default_storage

from approvals.db.binding import bind, current_workspace
from approvals.exceptions import Conflict, Unavailable
from approvals.rules.attachments import Attached
from approvals.selectors.attachments import fetch, name_in_storage
from approvals.services import files

pytestmark = pytest.mark.real

PDF = b"%PDF-1.7\n" + bytes(range(256)) * 20_000
FILE = Attached(uuid4(), "terms.pdf", "application/pdf", hashlib.sha256(PDF).hexdigest(), len(PDF))


@pytest.fixture(autouse=True)
def bucket(s3_endpoint: str, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "anybody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "anything")
    name = f"files-{uuid4().hex}"
    boto3.client("s3", endpoint_url=s3_endpoint, region_name="us-east-1").create_bucket(Bucket=name)
    in_s3 = {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": name,
            "endpoint_url": s3_endpoint,
            "region_name": "us-east-1",
            "default_acl": None,
            "file_overwrite": True,
        },
    }
    settings.STORAGES = {**settings.STORAGES, "default": in_s3}


def test_what_is_kept_is_handed_out_and_mended_once_it_is_lost_or_changed() -> None:
    with bind(uuid4()):
        name = _kept()
        assert fetch(FILE) == PDF
        default_storage.delete(name)
        with pytest.raises(Conflict, match="is not in the storage any more"):
            fetch(FILE)
        assert _kept() == name and fetch(FILE) == PDF
        default_storage.save(name, BytesIO(PDF[:-1]))
        with pytest.raises(Conflict, match="was changed in the storage"):
            fetch(FILE)
        assert _kept() == name and fetch(FILE) == PDF


def test_a_storage_that_cannot_be_reached_is_no_lost_file(settings: Any) -> None:
    kept = settings.STORAGES["default"]
    elsewhere = {**kept, "OPTIONS": {**kept["OPTIONS"], "endpoint_url": "http://127.0.0.1:9"}}
    settings.STORAGES = {**settings.STORAGES, "default": elsewhere}
    with bind(uuid4()), pytest.raises(Unavailable):
        fetch(FILE)


def _kept() -> str:
    name = name_in_storage(current_workspace(), FILE.sha256)
    with files.spooled([PDF], most=len(PDF), too_big=Conflict("too big")) as came:
        files.store(came, name)
    return name
