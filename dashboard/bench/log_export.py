"""Entries a second that the standalone verifier reads, in one process: the program itself, timed from outside.

The export is made up here, entry after entry, as the database would have chained them.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from dashboard.bench.figures import rounded
from dashboard.bench.telling import Teller

ENTRIES, LEAST = 200_000, 2_000
ROUNDS = 3
WORKSPACE = UUID(int=7)
FIRST = datetime(2025, 1, 1, tzinfo=UTC)
REASON = "The customer was called back and wants it done again. " * 9
VERIFIER = settings.BASE_DIR / "approvals" / "rules" / "verify_log.py"


def measure(tell: Teller, scale: float) -> dict[str, Any]:
    """The best of some rounds: whatever is slower than that was somebody else's doing."""
    entries = max(LEAST, int(ENTRIES * scale))
    with tempfile.TemporaryDirectory(prefix="secondlook-bench-") as folder:
        file = Path(folder) / "log.jsonl"
        tell.say(f"Making an export of {entries:,} entries")
        head = write(file, entries)
        size = file.stat().st_size // entries
        walls, cpus = [], []
        for _ in tell.through(range(ROUNDS), "Verifying it"):
            wall, cpu = _verify(file, head)
            walls.append(wall)
            cpus.append(cpu)
    return {
        "per_s": rounded(entries / min(walls)),
        "per_cpu_s": rounded(entries / min(cpus)),
        "entries": entries,
        "bytes_an_entry": size,
        "rounds_s": [rounded(wall) for wall in walls],
    }


def _verify(file: Path, head: str) -> tuple[float, float]:
    """(seconds, processor seconds) of one verification."""
    began, used = time.perf_counter(), os.times()
    done = subprocess.run(
        [sys.executable, VERIFIER, file, "--anchor", head], capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - began, os.times()
    if done.returncode:
        raise RuntimeError(f"the verifier refused a good export: {done.stdout}{done.stderr}")
    spent = after.children_user + after.children_system - used.children_user - used.children_system
    return wall, spent


def write(file: Path, entries: int) -> str:
    """Write an export of a whole log; the hash of its head."""
    # The header names the head, which is known last; its line is written over with the same number of bytes.
    header = _header(entries, "0" * 64)
    head = ""
    with file.open("w") as out:
        out.write(header)
        for seq in range(1, entries + 1):
            entry = _entry(seq, head)
            head = entry["hash"]
            out.write(json.dumps(entry, separators=(",", ":")) + "\n")
        out.seek(0)
        out.write(_header(entries, head))
    return head


def _header(entries: int, head: str) -> str:
    told = {
        "format": "secondlook decision log 1", "workspace": str(WORKSPACE), "slug": "bench", "name": "Bench",
        "exported_at": _time(FIRST), "filter": {}, "entries": entries, "head": {"seq": entries, "hash": head},
    }  # fmt: skip
    return json.dumps(told, separators=(",", ":")) + "\n"


def _entry(seq: int, before: str) -> dict[str, Any]:
    """One sealed entry with its payload, about 1.5 KB."""
    salt, body = (
        hashlib.md5(b"%d" % seq, usedforsecurity=False).digest(),
        f'{{"number":{seq},"reason":"{REASON}"}}',
    )
    about = str(UUID(int=seq + 1000))
    sealed = {
        "workspace": str(WORKSPACE), "seq": seq, "id": str(UUID(int=seq)), "at": _time(FIRST + timedelta(seconds=seq)),
        "kind": "force_replay", "actor_kind": "member", "actor_id": "17", "actor_name": "Ada Lindström",
        "actor_roles": ["support", "reviewer"], "sign_in": "password", "opened_at": _time(FIRST),
        "target_kind": "run", "target_id": about, "item_id": about, "agent": "refund-assistant",
        "subject": f"customer-{seq}@example.com", "digest": hashlib.sha256(body.encode()).hexdigest(),
        "payload_id": str(UUID(int=seq + 5000)), "payload_hash": hashlib.sha256(salt + body.encode()).hexdigest(),
    }  # fmt: skip
    texts = [",".join(value) if isinstance(value, list) else str(value) for value in sealed.values()]
    chained = "".join(f"{len(text.encode())}:{text}" for text in texts)
    hash = hashlib.sha256(bytes.fromhex(before) + chained.encode()).hexdigest()
    return {**sealed, "prev_hash": before, "hash": hash, "payload": {"salt": salt.hex(), "body": body}}


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
