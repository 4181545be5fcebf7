"""Tampering with a real export: each way is named, and what was only erased is not called tampering."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from approvals.rules import verify_log
from approvals.rules.verify_log import FIELDS, FORMAT
from approvals.selectors import log_export
from approvals.selectors.decisions import Wanted
from tests.world import World, call

Lines = list[dict[str, Any]]
_made: dict[str, Lines] = {}


def exported(world: World, **wanted: Any) -> Lines:
    export = log_export.begin(world.workspace.id, Wanted(**wanted))
    return [json.loads(line) for line in log_export.json_lines(export)]


@pytest.fixture
def exports(db: None) -> dict[str, Lines]:
    """The logs of two workspaces, header first, made once: `ours`, `theirs`, and a selection of ours."""
    if not _made:
        world, other = World.create("Nordwind"), World.create("Harbour")
        for number in range(3):
            world.forced(world.run(f"refund-{number}", call("c1", "send_email", to="änn@example.com")))
            other.rejected(other.campaign("Winter schedule"))
        world.rejected(world.campaign("Frühling\u2028<b>"), comment="The second date\nis “wrong”. 🙂")
        _made.update(ours=exported(world), theirs=exported(other), some=exported(world, kind="force_replay"))
    return _made


@pytest.fixture
def ours(exports: dict[str, Lines]) -> Lines:
    """A copy to tamper with."""
    copy: Lines = json.loads(json.dumps(exports["ours"]))
    assert len(copy) == 1 + 10
    return copy


@pytest.fixture
def said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """(exit code, what was printed) for these lines, or these bytes, as a file."""

    def said(lines: Lines | bytes, *words: str) -> tuple[int, str]:
        file = tmp_path / "log.jsonl"
        if isinstance(lines, bytes):
            file.write_bytes(lines)
        else:
            file.write_bytes(raw(lines))
        code = verify_log.main([str(file), *words])
        return code, capsys.readouterr().out

    return said


Said = Callable[..., tuple[int, str]]


def raw(lines: Lines) -> bytes:
    return "".join(log_export.json_line(line) for line in lines).encode()


def bad(answer: tuple[int, str]) -> str:
    """The one sentence on a file that does not hold."""
    code, printed = answer
    assert code == 1, printed
    (line,) = printed.splitlines()
    return line.removeprefix("DOES NOT HOLD: ")


def test_a_whole_log_holds_and_its_head_is_named(ours: Lines, said: Said) -> None:
    code, printed = said(ours)
    assert code == 0
    assert "HOLDS: every entry of this log is as it was sealed." in printed
    assert "Entries    10, number 1 to 10" in printed
    assert f"entry 10, {ours[-1]['hash']}" in printed
    assert f"Period     {ours[1]['at']} to {ours[-1]['at']}" in printed
    assert "give --anchor a hash that was kept elsewhere" in printed


def changed(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return [*value, "admin"]
    if isinstance(value, dict):
        return {**value, "body": value["body"] + " "}
    return "2026-01-01T00:00:00.000000Z"  # a null


@pytest.mark.parametrize("field", sorted(FIELDS))
@pytest.mark.parametrize("number", [1, 7, 10])
def test_a_changed_field_is_named_with_its_entry(ours: Lines, said: Said, field: str, number: int) -> None:
    entry = ours[number]
    entry[field] = changed(entry[field])
    sentence = bad(said(ours))
    assert f"line {number + 1}, entry {entry['seq']}, was changed" in sentence
    assert ("texts" in sentence) == (field == "payload")


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_a_field_that_is_missing_or_stands_twice_is_named(ours: Lines, said: Said, field: str) -> None:
    lines = raw(ours).splitlines(keepends=True)
    twice = lines[5].replace(b"{", b'{"%s":"x",' % field.encode(), 1)
    assert "one of its names stands twice" in bad(said(b"".join([*lines[:5], twice, *lines[6:]])))
    del ours[5][field]
    assert f"its field “{field}” is missing" in bad(said(ours))


@pytest.mark.parametrize(
    "change",
    [
        {"seq": "7"}, {"seq": 7.0}, {"seq": True}, {"seq": None}, {"seq": [7]}, {"actor_roles": ["support", ""]},
        {"actor_roles": "support"}, {"actor_roles": None}, {"actor_roles": [1]}, {"agent": 5}, {"kind": None},
        {"subject": ["ann@example.com"]}, {"sign_in": {"a": 1}}, {"more": 1},
        {"payload": {}}, {"payload": "erased"}, {"payload": False}, {"payload": []},
        {"payload": {"salt": 1, "body": 2}},
        {"prev_hash": 5}, {"prev_hash": "xyz"}, {"hash": None}, {"subject": "\ud800"},
    ],
    ids=str,
)  # fmt: skip
def test_what_reads_alike_or_is_of_another_kind_is_changed(
    ours: Lines, said: Said, change: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Some of these hash like the truth, or would break a program that believes what it reads."""
    ours[7].update(change)
    lines = b"".join(json.dumps(line).encode() + b"\n" for line in ours)
    assert "line 8, entry" in (sentence := bad(said(lines)))
    assert "was changed" in sentence


def test_a_name_that_anybody_could_have_written_is_not_told_as_sealed(ours: Lines, said: Said) -> None:
    ours[0]["name"] = "Harbour"
    code, text = said(ours)
    assert code == 0
    assert f"Workspace  {ours[0]['workspace']}; its name, which is not sealed: Harbour\n" in text


def test_the_same_bytes_in_other_letters_are_changed(ours: Lines, said: Said) -> None:
    entry = ours[7]
    for field, value in (
        ("prev_hash", entry["prev_hash"].upper()),
        ("prev_hash", " " + entry["prev_hash"]),
        ("payload", {**entry["payload"], "salt": entry["payload"]["salt"].upper()}),
        ("payload", {**entry["payload"], "more": ""}),
        # One letter of the text over to the salt: the same bytes in the same order.
        (
            "payload",
            {"salt": entry["payload"]["salt"] + "7b", "body": entry["payload"]["body"].removeprefix("{")},
        ),
    ):
        assert "line 8, entry 7, was changed" in bad(said([*ours[:7], {**entry, field: value}, *ours[8:]])), (
            field
        )


def test_two_roles_are_not_one_with_a_comma(exports: dict[str, Lines], ours: Lines, said: Said) -> None:
    del exports
    ours[7]["actor_roles"] = ["support,admin"]
    assert "roles" in bad(said(ours))


def test_a_removed_entry_is_missing(ours: Lines, said: Said) -> None:
    assert bad(said([*ours[:5], *ours[6:]])) == "entry 5 is missing: line 6 goes on with entry 6."
    assert bad(said([*ours[:5], *ours[8:]])) == "entries 5 to 7 are missing: line 6 goes on with entry 8."
    assert bad(said([ours[0], *ours[2:]])) == "entry 1 is missing: line 2 goes on with entry 2."


def test_two_swapped_entries_are_reordered(ours: Lines, said: Said) -> None:
    for first in (1, 5, 9):
        swapped = [*ours[:first], ours[first + 1], ours[first], *ours[first + 2 :]]
        expected = f"line {first + 1}, entry {first + 1}, is reordered: entry {first} belongs here"
        assert bad(said(swapped)).startswith(expected)
    moved = [*ours[:3], *ours[4:], ours[3]]
    assert "entry 3 belongs here and is in line 11" in bad(said(moved))


def test_an_entry_that_stands_twice_is_named(ours: Lines, said: Said) -> None:
    assert "line 6, entry 4, stands here a second time" in bad(said([*ours[:5], ours[4], *ours[5:]]))
    assert "line 8, entry 2, stands here a second time" in bad(said([*ours[:7], ours[2], *ours[7:]]))


def test_a_cut_end_shows_against_the_header_and_against_an_anchor(ours: Lines, said: Said) -> None:
    head = ours[-1]["hash"]
    cut = ours[:8]
    assert bad(said(cut)).startswith(
        "the end is cut off: the header names 10 entries, and the file ends after 7"
    )
    ours[0] |= {"entries": 7, "head": {"seq": 7, "hash": ours[7]["hash"]}}
    assert said(cut)[0] == 0, "by itself it is as good as whole"
    sentence = bad(said(cut, "--anchor", head))
    assert f"none has the hash {head}: the log was cut or rewritten since that anchor was taken" in sentence
    code, printed = said(cut, "--anchor", ours[3]["hash"].upper())
    assert (code, "Anchor     holds: it is entry 3" in printed) == (0, True)


def test_a_log_written_anew_shows_against_an_anchor(ours: Lines, said: Said) -> None:
    """Whoever holds the database can seal everything again; not what was told elsewhere before."""
    anchor = ours[9]["hash"]
    ours[4]["actor_name"] = "Somebody else"
    resealed(ours, 4)
    assert said(ours)[0] == 0
    assert "cut or rewritten" in bad(said(ours, "--anchor", anchor))


def resealed(lines: Lines, start: int) -> None:
    from hashlib import sha256

    for number in range(start, len(lines)):
        entry = lines[number]
        entry["prev_hash"] = lines[number - 1]["hash"] if number > 1 else ""
        values = [
            ",".join(entry[name]) if name == "actor_roles" else entry[name] for name in verify_log.SEALED
        ]
        text = "".join("-" if v is None else f"{len(str(v).encode())}:{v}" for v in values)
        entry["hash"] = sha256(bytes.fromhex(entry["prev_hash"]) + text.encode()).hexdigest()
    lines[0]["head"] = {"seq": lines[-1]["seq"], "hash": lines[-1]["hash"]}


def test_an_entry_that_was_sealed_anew_does_not_fit_the_next(ours: Lines, said: Said) -> None:
    ours[4]["actor_name"] = "Somebody else"
    resealed(first := ours[:5], 4)
    sentence = bad(said([*first, *ours[5:]]))
    assert "line 6, entry 5, does not follow from the entry before: one of the two was replaced" in sentence


def test_another_workspaces_entry_is_spliced_in(ours: Lines, exports: dict[str, Lines], said: Said) -> None:
    theirs = exports["theirs"]
    for spliced in ([*ours[:5], theirs[5], *ours[6:]], [*ours[:5], theirs[5], *ours[5:]]):
        sentence = bad(said(spliced))
        assert sentence.startswith("line 6, entry 5, is spliced in: it belongs to another workspace, ")
        assert theirs[0]["workspace"] in sentence
    assert "line 2, entry 1, is spliced in" in bad(said([ours[0], *theirs[1:]]))


def test_a_payload_that_is_gone_reads_erased(ours: Lines, said: Said) -> None:
    ours[3]["payload"] = ours[8]["payload"] = None
    code, printed = said(ours)
    assert code == 0
    assert "Erased     2 (their texts are gone; all else is sealed)" in printed
    assert "More texts are gone than the log's own entries about erasures account for." in printed


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"workspace": "0" * 36}, "line 2, entry 1, is spliced in"),
        ({"entries": 11}, "the end is cut off: the header names 11 entries"),
        ({"entries": 9}, "the header was changed: it names 9 entries, and there are 10"),
        ({"head": {"seq": 11, "hash": "0" * 64}}, "the end does not fit the header, which names entry 11"),
        ({"head": {"seq": 10, "hash": "0" * 64}}, "the end does not fit the header, which names entry 10"),
        ({"head": {"seq": "10", "hash": "0" * 64}}, "names no number and hash of the head"),
        ({"head": None}, "does not say what “head” is"),
        ({"entries": True}, "does not say what “entries” is"),
        ({"filter": None}, "does not say what “filter” is"),
        ({"workspace": 5}, "does not say what “workspace” is"),
        ({"format": "secondlook decision log 2"}, f"this program knows “{FORMAT}” only"),
        ({"format": "something"}, "this is no decision log of Secondlook"),
        ({"format": None}, "this is no decision log of Secondlook"),
    ],
    ids=str,
)
def test_a_changed_header_is_named(ours: Lines, said: Said, change: dict[str, Any], sentence: str) -> None:
    ours[0] |= change
    assert sentence in bad(said(ours))


def test_a_selection_says_what_it_cannot_show(exports: dict[str, Lines], said: Said) -> None:
    some = exports["some"]
    assert [entry["kind"] for entry in some[1:]] == ["force_replay"] * 3
    code, printed = said(some)
    assert code == 0
    assert "HOLDS: every entry of this selection is as it was sealed." in printed
    assert 'Filter     {"kind": "force_replay"}' in printed
    assert "entries that were left out cannot be told from entries that are missing" in printed
    assert said(some, "--anchor", some[2]["hash"])[0] == 0
    assert "try it with an export of the whole log" in bad(said(some, "--anchor", "0" * 64))


def test_entries_of_a_selection_that_follow_each_other_are_chained(
    exports: dict[str, Lines], said: Said
) -> None:
    some = json.loads(json.dumps(exports["some"]))
    some[1]["actor_name"] = "Somebody else"
    resealed(first := some[:2], 1)
    some[0] = first[0] | {"head": exports["some"][0]["head"]}
    assert "does not follow" in bad(said([some[0], first[1], *some[2:]]))
    assert "is out of order" in bad(said([some[0], *exports["some"][2:], exports["some"][1]]))
    assert "stands here a second time" in bad(said([*exports["some"][:2], exports["some"][1]]))


def test_a_selection_may_be_empty(exports: dict[str, Lines], said: Said) -> None:
    code, printed = said([exports["some"][0] | {"entries": 0}])
    assert (code, "Entries    0\n" in printed) == (0, True)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"\n", "Expecting value"), (b"hello\n", "Expecting value"), (b"[1]\n", "it is something else"),
        (b'"x"\n', "it is something else"), (b"\xff\xfe\n", "can't decode"), (b"{}\n{}", ""),
        (b"[" * 100_000 + b"\n", "nested too deeply"), (b"9" * 10_000 + b"\n", ""),
        (b'{"seq":NaN}\n', ""), (b'{"seq":"\x00"}\n', ""),
    ],
    ids=lambda value: str(value)[:20],
)  # fmt: skip
def test_a_line_that_is_no_entry_is_named(ours: Lines, said: Said, line: bytes, why: str) -> None:
    sentence = bad(said(raw(ours[:4]) + line + raw(ours[4:])))
    assert sentence.startswith("line 5")
    assert why in sentence


def test_a_file_that_ends_in_the_middle_of_a_line_is_cut(ours: Lines, said: Said) -> None:
    sentence = bad(said(raw(ours)[:-40]))
    assert sentence == (
        "line 11, after entry 9, is no entry: it is cut off in the middle, and so is the end of the file."
    )
    assert said(raw(ours)[:-1])[0] == 0, "the last line break says nothing"
    assert said(raw(ours).replace(b"\n", b"\r\n"))[0] == 0, "so do those of another system"


def test_a_line_without_end_is_not_read(ours: Lines, said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_log, "LONGEST_LINE", 10_000)
    assert bad(said(raw(ours) + b"x" * 20_000)) == "line 12 is too long to be an entry."


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the file is empty."),
        (b"\xef\xbb\xbf\"seq\",\"at\"\r\n", verify_log.CSV),
        (b"hello\n", verify_log.NO_LOG),
        (b"[1]\n", verify_log.NO_LOG),
        (b'{"format":"x"}\n', verify_log.NO_LOG),
        (b"\x1f\x8b\x08\x00", verify_log.NO_LOG),
        (b"<!DOCTYPE html>\n<p>Hello</p>\n", verify_log.NO_LOG),
    ],
)  # fmt: skip
def test_what_is_no_log_is_told_so(said: Said, content: bytes, sentence: str) -> None:
    assert bad(said(content)) == sentence


def test_a_wrong_use_is_told_apart(
    ours: Lines, said: Said, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify_log.main([str(tmp_path / "nowhere")]) == 2
    assert capsys.readouterr().err.endswith("nowhere cannot be read: No such file or directory.\n")
    for anchor in ("", "abc", "g" * 64):
        with pytest.raises(SystemExit) as ended:
            said(ours, "--anchor", anchor)
        assert ended.value.code == 2
        assert "64 digits" in capsys.readouterr().err


def test_nothing_that_others_wrote_reaches_the_terminal_as_a_command(ours: Lines, said: Said) -> None:
    evil, harmless = "\x1b[2J\u202eevil", "\\u{1b}[2J\\u{202e}evil"
    ours[0] |= {"name": evil}
    assert harmless in said(ours)[1]
    for field in ("seq", "workspace", "more"):
        assert "\x1b" not in bad(said([*ours[:4], {**ours[4], field: evil}, *ours[5:]]))
    ours[4]["at"] = ours[4]["workspace"] = evil
    resealed(lines := ours[:5], 4)
    assert harmless in bad(said(lines))


def test_a_packet_whose_texts_are_no_json_is_told_all_the_same(ours: Lines, said: Said) -> None:
    """Whoever makes one up can seal anything."""
    from hashlib import sha256

    for body in ("hello", "[" * 100_000, '["x"]'):
        entry = ours[1] | {"payload": {"salt": "00" * 16, "body": body}}
        entry["payload_hash"] = sha256(bytes(16) + body.encode()).hexdigest()
        resealed(lines := [ours[0] | {"entries": 1, "filter": {"packet": "x"}}, entry], 1)
        begins, ends = verify_log.PACKET_BEGINS, verify_log.PACKET_ENDS
        page = b"\n".join([b"<!doctype html>", begins, raw(lines) + ends, b""])
        code, printed = said(page)
        assert code == 0
        assert body[:100] in printed
