"""Attached files as a worker sends them: read once a batch, only as they were approved, and otherwise not at all."""

from email import message_from_bytes, policy

import pytest
from django.core.files.storage import default_storage
from django.db import connection

from approvals.models import Job
from approvals.selectors import attachments as selectors
from approvals.services import attachments, pauses
from tests import factories as f
from tests.services import sends
from tests.services.conftest import as_superuser, database, desk, lease_over, mia
from tests.tasks.office import accounted, connections, office, sink

__all__ = ["as_superuser", "connections", "database", "desk", "lease_over", "mia", "office", "sink"]

PDF = b"%PDF-1.7\n" + bytes(range(256)) * 400
FILES = [
    ("Allgemeine Geschäftsbedingungen.pdf", "application/pdf", PDF),
    ("dates.csv", "text/csv", b"a,b\r\n.\r\n"),
]


@pytest.fixture(autouse=True)
def files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def approved(office, connections):
    return office.approved(6, files=FILES)


def kept(files):
    return sorted(path for path in files.rglob("*") if path.is_file())


def test_everybody_gets_the_files_byte_for_byte_and_they_are_read_once_a_batch(
    office, approved, sink, monkeypatch
):
    opened = []
    real = default_storage.open
    monkeypatch.setattr(
        default_storage, "open", lambda name, mode: (opened.append(name), real(name, mode))[1]
    )
    office.wake()
    assert accounted(sink) == {"sent": 6}
    assert len(opened) == len(FILES)
    for message in sink.accepted:
        _, *parts = message_from_bytes(message.raw, policy=policy.default).iter_parts()
        assert [(one.get_filename(), one.get_content_type()) for one in parts] == [
            (name, content_type) for name, content_type, _ in FILES
        ]
        assert [one.get_payload(decode=True) for one in parts] == [data for *_, data in FILES]


@pytest.mark.parametrize("damage", ["lost", "changed", "cut short", "longer"])
def test_d08_a_file_that_is_not_the_approved_one_pauses_the_sending_with_what_to_do(
    office, approved, sink, files, damage
):
    path = max(kept(files), key=lambda one: one.stat().st_size)
    if damage == "lost":
        path.unlink()
    else:
        path.write_bytes(
            {"changed": PDF.replace(b"7", b"8"), "cut short": PDF[:-1], "longer": PDF + b"x"}[damage]
        )
    office.wake()
    job = sends.the_job()
    assert job.status == "paused"
    assert "Allgemeine Geschäftsbedingungen.pdf" in job.outcome
    assert "mail server" not in job.outcome
    assert "POST /api/v1/attachments once more" in job.outcome
    assert not sink.accepted and accounted(sink) == {"planned": 6}


def test_once_the_file_is_back_the_sending_goes_on(office, approved, sink, files):
    for path in kept(files):
        path.unlink()
    office.wake()
    for _, content_type, data in FILES:
        attachments.keep(by=f.SENDER, pieces=[data], content_type=content_type)
    pauses.resume_send(by=office.by, job_id=sends.the_job().id, shown=f.shown_campaign(approved))
    office.send_all()
    assert accounted(sink) == {"sent": 6}


def test_a_storage_that_does_not_answer_is_asked_again_later(office, approved, sink, monkeypatch):
    def broken(*_):
        raise ConnectionError("no route to the bucket")

    with monkeypatch.context() as patch:
        patch.setattr(default_storage, "open", broken)
        office.wake()
    job = sends.the_job()
    assert job.status == "queued" and "mail server" not in job.outcome
    assert "does not hand out the attached files now" in job.outcome
    assert not sink.accepted
    office.send_all()
    assert accounted(sink) == {"sent": 6}


def test_no_transaction_is_open_while_the_storage_is_read(office, approved, sink, monkeypatch):
    seen = []
    real = selectors.fetch
    monkeypatch.setattr(
        selectors, "fetch", lambda one: (seen.append(connection.in_atomic_block), real(one))[1]
    )
    office.wake()
    assert seen == [False, False]
    assert f.rows(Job.objects.filter(status="done"))
