"""The files of a campaign on its page, and taking them along: never shown, never run, only as they were approved."""

from urllib.parse import quote

import pytest
from django.db import connection

from approvals.db.binding import bind
from approvals.models import VersionAttachment
from dashboard.views import attachments as views
from tests import factories as f
from tests.views.of_campaign_pages import deliveries, page
from tests.views.reading import Read

PDF = b"%PDF-1.7\nTerms."
FILES = [
    ("AGB für „Ann“.pdf", "application/pdf", PDF),
    ("invoice.pdf.exe", "application/pdf", b"MZ" + b"x" * 600_000),
]


@pytest.fixture(autouse=True)
def files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def campaign(world):
    return proposed(world, FILES)


def proposed(world, files, **more):
    with bind(world.workspace.id):
        return f.campaign(files=files, agent="outreach", **more)


def attached(world, campaign):
    rows = VersionAttachment.objects.filter(version__campaign_id=campaign.id).order_by("position")
    return world.read(lambda: list(rows))


def take(world, campaign, row, role="reviewer"):
    return world.visit(role).get(world.at(f"campaigns/{campaign.id}/attachments/{row.id}"))


def test_the_page_names_each_file_with_its_type_size_and_sha256(world, campaign):
    read = Read(page(world, campaign))
    assert "2 attached files, 600 kB together" in read
    assert "AGB für „Ann“.pdf application/pdf, 15 bytes, SHA-256" in read
    assert "invoice.pdf.exe application/pdf, 600 kB, SHA-256" in read


def test_doubts_about_a_file_stand_among_the_findings_and_its_size_counts(world, campaign):
    read = Read(page(world, campaign))
    assert "An attached file: It is a program, or starts one" in read
    assert "Its name ends twice" in read
    assert "It is sent as application/pdf, but its first bytes are not of that type." in read
    assert "The message has 0.8 MB (its files 0.6 MB before they are packed)" in read


def test_the_size_that_the_page_tells_is_that_of_the_source(world, campaign):
    read = Read(page(world, campaign))
    delivery, *_ = deliveries(world, campaign)
    source = (
        world.visit("reviewer").get(world.at(f"campaigns/{campaign.id}/message/{delivery.id}/source")).content
    )
    assert f"The whole message has {len(source) / 1000:,.0f} kB." in read


def test_a_campaign_without_files_says_nothing_of_them(world):
    assert "attached" not in Read(page(world, world.campaign())).text


def test_a_file_is_handed_out_to_be_kept_and_never_to_be_shown(world, campaign):
    for row, (name, _, data) in zip(attached(world, campaign), FILES, strict=True):
        answer = take(world, campaign, row)
        assert answer.content == data
        assert answer["Content-Type"] == "application/octet-stream"
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert (
            "sandbox" in answer["Content-Security-Policy"]
            and "default-src 'none'" in answer["Content-Security-Policy"]
        )
        assert answer["Content-Disposition"].startswith("attachment; filename")
        assert quote(name) in answer["Content-Disposition"] or name in answer["Content-Disposition"]


def test_a_file_of_another_campaign_or_workspace_is_not_there(world, campaign):
    other = proposed(world, [("x.txt", "text/plain", b"x")])
    [row] = attached(world, other)
    assert take(world, campaign, row).status_code == 404
    assert take(world, other, row).status_code == 200


def test_a_file_that_was_changed_or_lost_is_refused_with_what_to_do(world, campaign, files):
    row, _ = attached(world, campaign)
    delivery, *_ = deliveries(world, campaign)
    [path] = [path for path in files.rglob("*") if path.is_file() and path.read_bytes() == PDF]
    path.write_bytes(PDF.upper())
    answer = take(world, campaign, row)
    assert answer.status_code == 409 and "was changed in the storage" in Read(answer)
    path.unlink()
    answer = world.visit("reviewer").get(world.at(f"campaigns/{campaign.id}/message/{delivery.id}/source"))
    assert answer.status_code == 409 and "is not in the storage any more" in Read(answer)
    assert "AGB für „Ann“.pdf" in Read(page(world, campaign)), "the page itself needs no storage"


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_a_file_is_fetched(world, campaign, monkeypatch):
    seen = []
    real = views.fetch
    monkeypatch.setattr(views, "fetch", lambda one: (seen.append(connection.in_atomic_block), real(one))[1])
    row, _ = attached(world, campaign)
    assert take(world, campaign, row).content == PDF
    assert seen == [False]


def test_d08_another_file_under_the_same_name_is_what_changed(world):
    before = proposed(world, [("terms.pdf", "application/pdf", PDF)])
    world.approved(before)
    read = Read(page(world, proposed(world, [("terms.pdf", "application/pdf", PDF + b"!")])))
    about = read.text[read.text.index("What changed") :]
    assert "Attached files" in about
    assert (
        "gone: terms.pdf (application/pdf, 15 bytes" in about
        and "new: terms.pdf (application/pdf, 16 bytes" in about
    )
    same = Read(page(world, proposed(world, [("terms.pdf", "application/pdf", PDF)])))
    assert "Attached files" in same.text[same.text.index("The same as there") :]
