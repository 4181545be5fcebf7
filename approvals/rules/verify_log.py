#!/usr/bin/env python3
"""Verifies an exported decision log of Secondlook, or an evidence packet. Copy this file anywhere and run it:

    python3 verify_log.py FILE [--anchor HASH]

It needs Python 3.10 or newer and nothing else: no database, no network, no other file. Exit code 0: the file holds;
1: it does not, and one sentence names the first thing that is wrong; 2: it could not be tried.

What it relies on. Each line of a log is one entry. An entry's `hash` is SHA-256 over the `hash` of the entry before
(`prev_hash`) and every sealed field, each with its length in front. Its texts (reason, what was shown) are apart in
`payload`; sealed is `payload_hash`, SHA-256(salt + body), so that texts can be erased and the chain still holds. So
no entry can be changed, taken out, put in or moved without changing every hash after it. Two things a chain cannot
show by itself: that its end was cut off, or that somebody wrote all of it anew. For these, compare with a hash that
was kept elsewhere: in an earlier export, in the log stream ("log anchor"), on paper. That is what --anchor is for.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, BinaryIO

FORMAT = "secondlook decision log 1"
SEALED = (  # in the order in which they are hashed
    *(
        "workspace",
        "seq",
        "id",
        "at",
        "kind",
        "actor_kind",
        "actor_id",
        "actor_name",
        "actor_roles",
        "sign_in",
    ),
    *("opened_at", "target_kind", "target_id", "item_id", "agent", "subject", "digest"),
    *("payload_id", "payload_hash"),
)
FIELDS = {*SEALED, "prev_hash", "hash", "payload"}
LONGEST_LINE = 256 * 1024 * 1024  # bytes; a longer line is no entry
PACKET_BEGINS = b'<script type="application/json" id="secondlook-log">'
PACKET_ENDS = b"</script>"
PROGRESS_FROM = 16 * 1024 * 1024  # bytes of a file from which on a terminal is told how far it is
CSV = "this is the CSV for spreadsheets, which cannot be verified; export without --csv."
NO_LOG = "this is no decision log of Secondlook: its first line is not a log's header."
SELECTION = (
    "This is a selection: each entry is as it was sealed, but entries that were left out cannot be told from entries"
    " that are missing. Only an export of the whole log shows that none is missing."
)
PACKET = (
    "Compare what is printed in the packet with what stands above. Whether these entries are in the log shows in an"
    " export of the whole log: verify that one with --anchor and a hash from above."
)
UNTOLD = (
    "More texts are gone than the log's own entries about erasures account for. Ask who took them out; if something was"
    " just being erased, export it anew."
)
NO_ANCHOR = (
    "A log that was cut short or written anew before the export would look the same: to rule that out, give --anchor"
    " a hash that was kept elsewhere."
)


class Bad(Exception):
    """The first thing that is wrong, in one sentence."""


def main(argv: list[str]) -> int:
    """Verify one file; the exit code."""
    parser = argparse.ArgumentParser(prog="verify_log.py", description="Verify a decision log of Secondlook.")
    parser.add_argument("file", metavar="FILE", help="a JSON Lines export, or an evidence packet (HTML)")
    parser.add_argument(
        "--anchor", metavar="HASH", help="a hash, kept from earlier, that some entry must have"
    )
    asked = parser.parse_args(argv)
    anchor = None if asked.anchor is None else asked.anchor.strip().lower()
    if anchor is not None and not (len(anchor) == 64 and set(anchor) <= set("0123456789abcdef")):
        parser.error("--anchor expects a hash: 64 digits of 0-9 and a-f")
    try:
        with open(asked.file, "rb") as file:  # noqa: PTH123
            log = Log(file)
            log.verify(anchor)
            return report(log, anchor)
    except BrokenPipeError:  # whoever reads what is printed has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except OSError as error:
        print(f"{shown(asked.file)} cannot be read: {error.strerror or error}.", file=sys.stderr)
        return 2
    except Bad as bad:
        print(f"DOES NOT HOLD: {bad}")
        return 1


def report(log: Log, anchor: str | None) -> int:
    """Say what was found in a log that holds by itself; the exit code."""
    header, selected = log.header, bool(log.header["filter"])
    if anchor and log.anchored is None and selected:
        raise Bad("no entry of this selection has the anchor's hash; try it with an export of the whole log.")
    if anchor and log.anchored is None:
        raise Bad(
            f"each entry follows from the one before, but none has the hash {anchor}: the log was cut or rewritten"
            " since that anchor was taken, or the anchor is of another workspace."
        )
    what = "packet" if log.is_packet else "selection" if selected else "log"
    print(f"HOLDS: every entry of this {what} is as it was sealed.")
    name = shown(header.get("name", ""))
    print(f"Workspace  {shown(header['workspace'])}; its name, which is not sealed: {name}")
    print(f"Entries    {log.count:,}" + (f", number {log.first:,} to {log.seq:,}" if log.count else ""))
    if log.count:
        print(f"Period     {shown(log.since)} to {shown(log.until)}")
        print(f"Last       entry {log.seq:,}, {log.hash}")
    print(f"Erased     {log.erased:,}{' (their texts are gone; all else is sealed)' if log.erased else ''}")
    if log.erased > log.told_erased and not log.is_packet and not selected:
        print(f"           {UNTOLD}")
    if anchor:
        print(f"Anchor     holds: it is entry {log.anchored:,}")
    if log.is_packet:
        print(PACKET)
    elif selected:
        print(f"Filter     {shown(json.dumps(header['filter'], ensure_ascii=False))}\n{SELECTION}")
    elif not anchor:
        print(NO_ANCHOR)
    return 0


class Log:
    """A file that is read once, line by line; of the entries it remembers only the last."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.line = 0  # the number of the line that was read last
        self.is_packet = False
        self.header: dict[str, Any] = {}
        self.count = self.erased = self.told_erased = self.first = self.seq = 0
        self.hash = self.since = self.until = ""
        self.anchored: int | None = None  # the entry that has the anchor's hash

    def verify(self, anchor: str | None) -> None:
        """Read all of it; Bad at the first thing that is wrong."""
        self.read_header()
        began, size = time.monotonic(), os.fstat(self.file.fileno()).st_size
        tells = sys.stderr.isatty() and size > PROGRESS_FROM
        for line in self.entry_lines():
            entry = self.parsed(line)
            try:
                self.erased += check_seal(entry) == "erased"
            except Bad as bad:
                where = f"line {self.line}, entry {shown(entry.get('seq'))},"
                raise Bad(f"{where} was changed: {bad}") from None
            self.told_erased += erased_by(entry)
            self.check_place(entry)
            self.seq, self.hash, self.until = entry["seq"], entry["hash"], entry["at"]
            if self.hash == anchor:
                self.anchored = self.seq
            if not self.count:
                self.first, self.since = self.seq, self.until
            self.count += 1
            if self.is_packet:
                tell(entry)
            if tells and not self.count % 10_000:
                rate = self.count / (time.monotonic() - began)
                percent = self.file.tell() * 100 // size
                told = f"\r{percent} %, {self.count:,} entries, {rate:,.0f} a second "
                print(told, end="", file=sys.stderr)
        if tells:
            print(file=sys.stderr)
        self.check_end()

    def next_line(self) -> bytes:
        """One line, or nothing at the end."""
        line = self.file.readline(LONGEST_LINE)
        self.line += 1
        if len(line) == LONGEST_LINE:
            raise Bad(f"line {self.line} is too long to be an entry.")
        return line

    def read_header(self) -> None:
        """The first line of a log, or of the entries in a packet, says what the rest must be."""
        try:
            header = loads(self.header_line())
            known = header["format"] == FORMAT
            ours = header["format"].startswith("secondlook decision log ")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            ours = False
        if not ours:
            raise Bad(NO_LOG)
        if not known:
            raise Bad(f"its format is “{shown(header['format'])}”, and this program knows “{FORMAT}” only.")
        for name, kind in (("workspace", str), ("entries", int), ("filter", dict), ("head", dict)):
            if type(header.get(name)) is not kind:
                raise Bad(f"the header in line {self.line} was changed: it does not say what “{name}” is.")
        if type(header["head"].get("seq")) is not int or type(header["head"].get("hash")) is not str:
            raise Bad(f"the header in line {self.line} was changed: it names no number and hash of the head.")
        self.header = header

    def header_line(self) -> bytes:
        """The line on which the header stands."""
        line = self.next_line()
        if not line:
            raise Bad("the file is empty.")
        if line.startswith(b"\xef\xbb\xbf"):
            raise Bad(CSV)
        if line[:14].lower() != b"<!doctype html":
            return line
        self.is_packet = True
        while line and line.rstrip() != PACKET_BEGINS:
            line = self.next_line()
        return self.next_line()

    def entry_lines(self) -> Iterator[bytes]:
        """The lines on which the entries stand."""
        while line := self.next_line():
            if self.is_packet and line.rstrip() == PACKET_ENDS:
                break
            yield line
        while self.is_packet and (line := self.next_line()):
            if PACKET_BEGINS in line:  # of which of them would the printed text be?
                raise Bad(f"the packet holds entries a second time, in line {self.line}.")

    def parsed(self, line: bytes) -> dict[str, Any]:
        """The entry that stands on this line."""
        try:
            entry = loads(line)
            if type(entry) is dict:
                return entry
            why = "it is something else"
        except RecursionError:
            why = "it is nested too deeply"
        except ValueError as error:
            why = shown(error)
        if not line.endswith(b"\n"):
            why = "it is cut off in the middle, and so is the end of the file"
        raise Bad(f"line {self.line}, after entry {self.seq:,}, is no entry: {why}.")

    def check_place(self, entry: dict[str, Any]) -> None:
        """Bad unless the entry belongs to this workspace and follows from the one before."""
        seq, last, line, selected = entry["seq"], self.seq, self.line, bool(self.header["filter"])
        where = f"line {line}, entry {seq:,},"
        if entry["workspace"] != self.header["workspace"]:
            raise Bad(f"{where} is spliced in: it belongs to another workspace, {shown(entry['workspace'])}.")
        if seq <= last:
            how = "is out of order" if selected and seq < last else "stands here a second time"
            raise Bad(f"{where} {how}: the entry before is {last:,}.")
        if seq > last + 1 and not selected:
            if later := self.line_of(last + 1):
                raise Bad(f"{where} is reordered: entry {last + 1:,} belongs here and is in line {later}.")
            gone = f"entry {last + 1:,} is" if seq == last + 2 else f"entries {last + 1:,} to {seq - 1:,} are"
            raise Bad(f"{gone} missing: line {line} goes on with entry {seq:,}.")
        if seq == last + 1 and entry["prev_hash"] != self.hash:
            raise Bad(f"{where} does not follow from the entry before: one of the two was replaced.")

    def line_of(self, seq: int) -> int | None:
        """In which of the lines that follow an entry stands."""
        for line in self.entry_lines():
            if b'"seq":%d,' % seq in line and self.parsed(line).get("seq") == seq:
                return self.line
        return None

    def check_end(self) -> None:
        """Bad unless the file ends where its header says."""
        entries, head = self.header["entries"], self.header["head"]
        if self.count < entries:
            raise Bad(
                f"the end is cut off: the header names {entries:,} entries, and the file ends after {self.count:,},"
                f" with entry {self.seq:,}."
            )
        if self.count > entries:
            raise Bad(f"the header was changed: it names {entries:,} entries, and there are {self.count:,}.")
        at_head = (self.seq, self.hash) == (head["seq"], head["hash"])
        if not at_head and (not self.header["filter"] or self.seq >= head["seq"]):
            raise Bad(
                f"the end does not fit the header, which names entry {head['seq']:,} with hash {shown(head['hash'])}:"
                f" the last entry is {self.seq:,} with hash {self.hash}."
            )


def check_seal(entry: dict[str, Any]) -> str:
    """Bad unless an entry's hash and the hash of its texts are right; “whole”, or “erased” where the texts are gone."""
    if entry.keys() != FIELDS:
        odd = min(FIELDS ^ entry.keys())
        raise Bad(f"its field “{shown(odd)}” is {'missing' if odd in FIELDS else 'added'}.")
    try:
        seq, roles, before = entry["seq"], entry["actor_roles"], bytes.fromhex(entry["prev_hash"])
        # What is no text is hashed as text, so it must be written in the one way that reads like this.
        one_way = type(seq) is int and type(roles) is list and before.hex() == entry["prev_hash"]
        if not one_way or not all(role and "," not in role for role in roles):
            raise Bad("its number, roles or prev_hash are not written as a log writes them.")
        as_text = {**entry, "seq": str(seq), "actor_roles": ",".join(roles)}
        hashed = "".join([field(as_text[name]) for name in SEALED])
        if sha256(before + hashed.encode()).hexdigest() != entry["hash"]:
            raise Bad("a sealed field, or its hash, is not what was sealed.")
        payload = entry["payload"]
        if payload is None:
            return "erased"
        salt = bytes.fromhex(payload["salt"])
        one_way = len(payload) == 2 and len(salt) == 16 and salt.hex() == payload["salt"]
        if not one_way or sha256(salt + payload["body"].encode()).hexdigest() != entry["payload_hash"]:
            raise Bad("its payload (the texts) is not what was sealed.")
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Bad("one of its fields is nothing that a log holds.") from None
    return "whole"


def field(text: str | None) -> str:
    """One field as it is hashed: its length in bytes, a colon, the text; “-” for null. So no two lists collide."""
    return "-" if text is None else f"{len(text) if text.isascii() else len(text.encode())}:{text}"


def erased_by(entry: dict[str, Any]) -> int:
    """How many texts of the log an entry about an erasure says that it took."""
    if entry["kind"] != "erased" or entry["payload"] is None:
        return 0
    number = json.loads(entry["payload"]["body"]).get("evidence")
    return number if type(number) is int else 0


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. Of two fields with one name, people and programs might read different ones."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("one of its names stands twice")
    return found


decoder = json.JSONDecoder(object_pairs_hook=once)


def loads(line: bytes) -> Any:
    """The JSON value on one line."""
    return decoder.decode(line.decode())


def tell(entry: dict[str, Any]) -> None:
    """Print what a sealed entry says."""
    body = "erased" if entry["payload"] is None else entry["payload"]["body"]
    try:
        texts = json.loads(body)
    except (ValueError, RecursionError):
        texts = body
    for name in (*SEALED[1:], "hash"):
        print(f"  {name:<14}" if name != "seq" else "\nEntry", shown(entry[name]))
    for name, value in texts.items() if type(texts) is dict else [("texts", texts)]:
        print(f"  . {shown(name):<12}", shown(value))


def shown(value: object) -> str:
    """What others wrote, safe for a terminal: a character that cannot be printed is written as its number."""
    text = value if isinstance(value, str | Exception) else json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in str(text))


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal may know few letters
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
