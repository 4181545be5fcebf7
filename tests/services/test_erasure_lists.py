"""Forgetting a person in imported lists, stored files and the list of the suppressed; nobody else loses anything."""

from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from approvals.access.actors import Actor
from approvals.db.binding import bind
from approvals.exceptions import Conflict, NotFound, Unavailable
from approvals.models import (
    AudienceRow,
    Dataset,
    DatasetRow,
    Decision,
    Delivery,
    Payload,
    Suppression,
    Version,
)
from approvals.rules.addresses import Mailbox, check_address
from approvals.rules.spelling import spelling
from approvals.selectors import erasure_lists, log_check
from approvals.services import datasets, decisions, erasure, filling, suppressions
from approvals.services import files as stored
from approvals.services.datasets import Upload, name_in_storage
from approvals.tasks import imports
from tests import factories as f
from tests import shared
from tests.house import OPERATOR

ANN = "ann@example.com"
LIST = """email,first_name,friend
ann@example.com,Ann,
bob@example.com,Bob,Ann
Ann <ANN@Example.com>,Again,
"ann@example.com, bob@example.com",Both,
joann@example.com,Joann,
"joann@example.com; x",Joann,
"""
ZOE = Actor("member", "7", "Zoe", frozenset({"reviewer", "support", "admin"}))


@pytest.fixture(autouse=True)
def files(settings, tmp_path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    return settings.MEDIA_ROOT


@pytest.fixture
def erase(desk, as_owner):
    """As the command does it: look through the files, erase, take the files away."""

    def erase(subject=ANN, *, killed_before_the_files=False):
        with as_owner():
            found = erasure.look_through_files(subject=subject)
            done = erasure.erase(by=OPERATOR, subject=subject, reason="Asked for.", in_files=found.lists)
            return *done, 0 if killed_before_the_files else erasure.remove_files()

    return erase


def received(text, name="list.csv", **asked):
    return datasets.receive(by=ZOE, upload=Upload(name=name, pieces=[text.encode()], **asked))


def imported(text=LIST, **asked):
    dataset, new = received(text, **asked)
    assert new
    imports.execute.run(str(dataset.id))
    return f.fresh(dataset)


def rows_of(dataset):
    found = f.rows(DatasetRow.objects.filter(dataset_id=dataset.id).order_by("position"))
    return [(row.email, row.address, row.dedupe_key, row.vars, row.state) for row in found]


def is_kept(dataset):
    return default_storage.exists(name_in_storage(dataset.workspace_id, dataset.sha256))


def suppressed(by=ZOE, address=ANN, **more):
    return suppressions.suppress(by=by, address=address, reason="She rang up.", **more)


def test_their_rows_go_in_every_spelling_the_list_still_adds_up_and_others_keep_theirs(erase):
    dataset = imported()
    before = rows_of(dataset)
    found, entry, _ = erase()
    gone = ("", "", "", "{}")
    assert rows_of(dataset) == [
        (*gone, "addressable"), before[1], (*gone, "duplicate"), (*gone, "refused"), before[4], before[5],
    ]  # fmt: skip
    assert found.list_rows == 3
    again = f.fresh(dataset)
    assert again.file_erased_at and (again.total, again.addressable) == (6, 3)
    with transaction.atomic():
        told = decisions.evidence_of(f.fresh(entry))
        assert (told["list_rows"], told["list_files"]) == (3, 1)
        assert ANN not in str(told)
    assert [*log_check.check()][-1].holds


def test_the_uploaded_file_goes_and_the_same_file_is_still_recognised(erase):
    dataset = imported()
    assert is_kept(dataset)
    assert erase()[2] == 1
    assert not is_kept(dataset)
    same, new = received(LIST)
    assert (same.id, new) == (dataset.id, False) and not is_kept(dataset)


def test_a_file_in_which_only_another_column_or_a_failed_list_spells_them_goes_too(erase):
    elsewhere = imported("email,friend\nbob@example.com,ann@example.com\n")
    failed = imported('email,name\nann@example.com,"Ann\n')
    other = imported("email\njoann@example.com\n")
    assert failed.trouble
    found, _, removed = erase()
    assert (found.list_rows, found.list_files, removed) == (0, 2, 2)
    assert [is_kept(one) for one in (elsewhere, failed, other)] == [False, False, True]


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8-sig"])
def test_files_are_read_in_whatever_encoding_they_have(encoding):
    text = "email,friend\nbob@example.com,ann@bücher.example\n"
    name = default_storage.save("probe", ContentFile(text.encode(encoding)))
    assert stored.spells(name, spelling("ANN@xn--bcher-kva.example"))
    assert not stored.spells(name, spelling("ann@example.com"))


def test_whoever_is_killed_before_the_files_are_gone_has_them_go_the_next_time(erase):
    dataset = imported()
    erase(killed_before_the_files=True)
    assert is_kept(dataset)
    found, entry, removed = erase()
    assert (bool(found), entry, removed) == (False, None, 1)
    assert not is_kept(dataset)
    assert erase()[2] == 0


def test_a_file_that_somebody_sends_anew_in_another_reading_is_not_taken_from_under_it(erase):
    imported()
    erase()
    again = imported(address_column="friend")
    assert again.trouble == "" and is_kept(again)
    other = imported("email\nzoe@example.com\n", name="z.csv")
    erase("zoe@example.com")
    assert is_kept(again) and not is_kept(other)


def test_nothing_is_erased_while_a_list_is_imported_that_may_hold_them(erase):
    f.dead_run(subject=ANN)
    dataset, _ = received(LIST)
    texts = len(f.rows(Payload.objects))
    with pytest.raises(Conflict, match=r"“list\.csv” is being imported, and may hold ann@example\.com"):
        erase()
    assert len(f.rows(Payload.objects)) == texts and is_kept(dataset)
    imports.execute.run(str(dataset.id))
    assert erase()[0].list_rows == 3


def test_a_storage_that_is_away_erases_nothing_and_says_so(erase, monkeypatch):
    dataset = imported()

    def away(*given):
        raise ConnectionError("refused")

    monkeypatch.setattr(default_storage, "open", away)
    with pytest.raises(Unavailable, match="The storage of files does not answer"):
        erase()
    assert rows_of(dataset)[0][0] == ANN


def test_a_campaign_of_the_list_has_nobody_in_the_place_of_who_was_erased(erase):
    dataset = imported()
    erase()
    campaign = f.campaign(to=1)
    with transaction.atomic():
        version = Version.objects.create(
            workspace_id=campaign.workspace_id, campaign_id=campaign.id, number=2, from_address="", subject_line="",
            text="",
        )  # fmt: skip
        filling.fill(
            version,
            dataset_id=dataset.id,
            where=None,
            agent="a",
            sender=Mailbox("", check_address("a@shop.example")),
        )
        Version.objects.filter(id=version.id).update(digest="d", sealed_at=timezone.now())
    rows = f.rows(AudienceRow.objects.filter(version_id=version.id).order_by("position"))
    assert [row.state for row in rows][:3] == ["refused", "addressable", "refused"]
    assert rows[0].reason == "What was known of this recipient was erased."
    deliveries = f.rows(Delivery.objects.filter(version_id=version.id).order_by("position"))
    assert [delivery.address for delivery in deliveries] == ["bob@example.com", "joann@example.com"]


def test_an_entry_that_holds_goes_on_holding_and_what_was_said_about_it_goes(erase):
    entry = suppressed()
    found, logged, _ = erase()
    assert (found.evidence, found.released) == (1, 0)
    assert f.fresh(entry).dedupe_key == ANN
    with transaction.atomic():
        assert decisions.evidence_of(f.rows(Decision.objects.filter(kind="suppress"))[0]) == {}
        assert decisions.evidence_of(f.fresh(logged))["objections"] == 1
    later = imported("email\nAnn@example.com\n")
    assert later.suppressed == 1, "she is not written to from the next list either"


def test_one_that_was_released_holds_nothing_and_is_emptied(erase):
    entry = suppressed()
    suppressions.release(by=ZOE, suppression_id=entry.id, reason="By mistake.")
    other = suppressed(address="bob@example.com")
    found, _, _ = erase()
    assert (found.released, found.evidence) == (1, 2)
    assert f.fresh(entry).dedupe_key == "" and f.fresh(entry).released_at
    assert f.fresh(other).dedupe_key == "bob@example.com"
    suppressed()
    assert len(f.rows(Suppression.objects.filter(released_at=None))) == 2


def test_attached_files_that_spell_them_stay_and_are_named(desk, erase, as_owner):
    plain = ("Contract.txt", "text/plain", b"between us and Ann <ANN@example.com>.")
    named = ("ann@example.com.pdf", "application/pdf", b"%PDF-1.7 packed")
    other = ("Terms.txt", "text/plain", b"joann@example.com and others")
    f.campaign("Spring", to=[(ANN, {"name": "Ann", "time": "1"})], files=[plain, named, other])
    with as_owner():
        found = erasure.look_through_files(subject=ANN)
    told = sorted(use for file in found.attached for use in file.used)
    assert told == [
        "“Contract.txt” of the campaign “Spring”, version 1",
        "“ann@example.com.pdf” of the campaign “Spring”, version 1",
    ]
    erase()
    assert all(default_storage.exists(file.stored_as) for file in found.attached)


def test_another_workspace_keeps_everything(desk, erase):
    mine = imported()
    beta = f.workspace(shared.slug())
    with bind(beta.id):
        theirs = imported()
        suppressed()
        f.campaign(to=[(ANN, {"name": "Ann", "time": "1"})])
        before = rows_of(theirs)
    erase()
    assert not is_kept(mine)
    with bind(beta.id):
        assert rows_of(theirs) == before and is_kept(theirs)
        assert f.rows(Delivery.objects)[0].address == ANN
        assert f.fresh(theirs).file_erased_at is None
        assert len(f.rows(Decision.objects.filter(kind="erased"))) == 0


@pytest.mark.parametrize("subject", ["", " ", "nobody@example.com", "example.com", "C-17"])
def test_what_is_no_address_of_a_list_finds_no_row(desk, erase, subject):
    dataset = imported()
    before = rows_of(dataset)
    with pytest.raises(NotFound):
        erase(subject)
    assert rows_of(dataset) == before


@pytest.mark.parametrize("subject", ["", " "])
def test_nobody_at_all_is_not_whoever_has_no_address(desk, subject):
    imported("email,name\n,Bo\nann@example.com,Ann\n")
    with transaction.atomic():
        assert not erasure_lists.rows_in(subject).exists()


def test_an_erasure_that_is_cut_short_has_erased_nothing(erase, monkeypatch):
    dataset = imported()
    before = rows_of(dataset)
    monkeypatch.setattr(decisions, "record", lambda **entry: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        erase()
    assert rows_of(dataset) == before
    assert f.rows(Dataset.objects)[0].file_erased_at is None and is_kept(dataset)
