"""Under which names and types a file may be attached, what its first bytes say, and what deserves a second look."""

from uuid import uuid4

import pytest

from approvals.rules.attachments import (
    LONGEST_NAME,
    Attached,
    check_content_type,
    check_filename,
    doubts_about,
    look_like,
)

PDF = b"%PDF-1.7\n"


def doubts(filename: str, content_type: str, head: bytes = b"") -> set[str]:
    attached = Attached(uuid4(), filename, content_type, "0" * 64, 9, look_like(head))
    return {doubt.code.removeprefix("attached_") for doubt in doubts_about(attached)}


@pytest.mark.parametrize(
    "name", ["terms.pdf", "Grüße aus Köln.txt", "報告書 2026.xlsx", "no ending", "a.tar.gz", "👩‍🚀.png"]
)
def test_an_ordinary_name_is_taken_in_any_script(name: str) -> None:
    assert check_filename(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "", " ", "a/b.pdf", "..\\b.pdf", "C:b.pdf", "a\nBcc: x@y.org", "a\x0bb", "a\x1cb", "a\u2028b", "\ud800",
        "invoice\u202efdp.exe", "a\u200bb.pdf", " a.pdf", "a.pdf ", "a.pdf.", "..",
        "x" * (LONGEST_NAME + 1), "漢" * 100,
    ],
)  # fmt: skip
def test_a_name_that_could_mislead_a_reader_or_a_program_is_refused_with_a_sentence(name: str) -> None:
    reason = check_filename(name)
    assert (reason and reason.endswith((".", ")."))) or "take it out" in reason


@pytest.mark.parametrize("content_type", ["application/pdf", "image/svg+xml", "application/vnd.ms-excel"])
def test_a_type_is_taken(content_type: str) -> None:
    assert check_content_type(content_type) is None


@pytest.mark.parametrize(
    "content_type",
    [
        "", "pdf", "/", "a/", "application/pdf; name=x", "Application/PDF", "text/plain\r\nBcc: x@y.org", "text/ plain",
        "message/rfc822", "multipart/mixed", "text/plain\n", "a/" + "b" * 200, "text/plain/x", "té/xt",
    ],
)  # fmt: skip
def test_no_other_type_is(content_type: str) -> None:
    assert check_content_type(content_type)


@pytest.mark.parametrize(
    ("filename", "content_type", "head"),
    [
        ("terms.pdf", "application/pdf", PDF),
        ("table.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", b"PK\x03\x04"),
        ("data.csv", "text/csv", b"a,b\n"),
        ("data.csv.gz", "application/gzip", b"\x1f\x8b\x08"),
        ("data.v2.pdf", "application/octet-stream", PDF),
        ("logo.png", "image/png", b"\x89PNG\r\n\x1a\n"),
        ("something.foo", "application/x-foo", b"PK\x03\x04"),
    ],
)
def test_what_is_as_it_says_raises_no_doubt(filename: str, content_type: str, head: bytes) -> None:
    assert doubts(filename, content_type, head) == set()


@pytest.mark.parametrize(
    ("filename", "content_type", "head", "found"),
    [
        ("setup.exe", "application/octet-stream", b"MZ\x90", {"program"}),
        ("readme", "text/plain", b"#!/bin/sh\n", {"program", "other_type"}),
        ("invoice.pdf.exe", "application/pdf", b"MZ", {"program", "two_endings", "other_type"}),
        ("invoice.pdf      .scr", "application/octet-stream", b"", {"program", "two_endings"}),
        ("invoice.pdf", "application/pdf", b"PK\x03\x04", {"other_type"}),
        ("invoice.pdf", "application/octet-stream", b"MZ", {"program", "other_kind"}),
        ("invoice.pdf", "text/html", b"<!DOCTYPE html><form>", {"page", "other_kind"}),
        ("page.html", "text/html", b"<html>", {"page"}),
        ("table.xlsm", "application/octet-stream", b"PK\x03\x04", {"macros"}),
        ("notes.txt", "text/plain", PDF, {"other_type"}),
    ],
)
def test_what_is_not_is_told(filename: str, content_type: str, head: bytes, found: set[str]) -> None:
    assert doubts(filename, content_type, head) == found


@pytest.mark.parametrize(
    ("head", "kind"),
    [(PDF, "pdf"), (b"\x7fELF", "program"), (b"\xef\xbb\xbf \n<HTML>", "html"), (b"<p>", ""), (b"", "")],
)
def test_the_first_bytes_tell_the_kind(head: bytes, kind: str) -> None:
    assert look_like(head) == kind
