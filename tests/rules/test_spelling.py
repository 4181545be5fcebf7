"""One address in a text or a file: every spelling of it, and nobody who only looks alike."""

import pytest

from approvals.rules.spelling import LONGEST, spelling

ANN = spelling(" Ann@X.example ")


@pytest.mark.parametrize(
    "text",
    [
        "ann@x.example",
        "Ann <ANN@X.EXAMPLE>",
        "write to ann@x.example.",
        "mailto:ann@x.example?subject=1",
        "a=ann@x.example&b",
        "'ann@x.example','bo@x.example'",
        "ann@x.example, ann@x.example.org",
    ],
)
def test_it_is_found_alone_and_among_other_words(text: str) -> None:
    assert ANN.in_text(text) and ANN.in_bytes(text.encode())


@pytest.mark.parametrize(
    "text",
    ["", "joann@x.example", "jo.ann@x.example", "ann+news@x.example.org", "ann@x.example.org", "ann@x.examples",
     "ann@x-example", "annx.example", "ann@x example"],
)  # fmt: skip
def test_who_only_looks_alike_is_somebody_else(text: str) -> None:
    assert not ANN.in_text(text) and not ANN.in_bytes(text.encode())


@pytest.mark.parametrize("asked", ["ann@bücher.example", "Ann@xn--bcher-kva.example"])
@pytest.mark.parametrize("written", ["ANN@xn--bcher-kva.EXAMPLE", "ann@bücher.example"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "latin-1"])
def test_a_domain_of_other_letters_is_one_domain(asked: str, written: str, encoding: str) -> None:
    assert spelling(asked).in_text(f"to {written};")
    assert spelling(asked).in_bytes(f"to {written};".encode(encoding))


@pytest.mark.parametrize("subject", ["C-17", "", "@", "ann", "two words", "ann@", "{{ email }}"])
def test_what_is_no_address_is_spelled_nowhere(subject: str) -> None:
    assert not spelling(subject).ways
    assert not spelling(subject).in_text(f"of {subject} and others") and not spelling(subject).in_bytes(
        b"C-17 @"
    )


def test_no_spelling_is_longer_than_pieces_of_a_file_overlap() -> None:
    local, label = "a" * 64, "b" * 61
    longest = spelling(f"{local}@{'.'.join([label] * 3)[:180]}.example")
    assert longest.ways and max(len(way.encode("utf-16")) for way in longest.ways) < LONGEST
