"""Where the servers keep their files, which programs they run, and as whom.

Postgres refuses to run as root, so root starts the servers as an unprivileged user. Where that user cannot
reach the data folder or the programs (a parent folder that only root may enter), both go to a folder under
/var/tmp whose name comes from the data folder's path.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TypedDict

from dashboard.embedded.trouble import Trouble, from_os_error

NOBODY = 65534
ELSEWHERE = Path("/var/tmp")  # noqa: S108 - survives a reboot; the folder's owner is checked before use


class Identity(TypedDict, total=False):
    """Keyword arguments of subprocess that make a child run as somebody else; empty for ourselves."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True)
class Home:
    """The folders of one data folder.

    `data` is ours: secrets, logs, caught mail. `servers` holds what Postgres and Valkey write, a folder
    each. `uid` is the user they run as; None means the user we are.
    """

    data: Path
    servers: Path
    uid: int | None

    @classmethod
    def open(cls, data: Path) -> "Home":
        """Make the data folder where it is missing and find out who can reach it. Raises Trouble."""
        data = data.resolve()
        root = os.geteuid() == 0
        try:
            # Root's servers run as somebody else, who must be able to pass through.
            data.mkdir(parents=True, exist_ok=True, mode=0o711 if root else 0o700)
            if not os.access(data, os.W_OK | os.X_OK):
                raise PermissionError(13, "Permission denied", str(data))
            if not root:
                return cls(data, data, None)
            uid = _owner_of_cluster(data) or NOBODY
            return cls(data, data if _can_enter(data, uid) else _folder_elsewhere(data), uid)
        except OSError as error:
            raise from_os_error(error, data) from error

    @cached_property
    def identity(self) -> Identity:
        """As whom the servers run."""
        if self.uid is None:
            return {}
        return {"user": self.uid, "group": self.uid, "extra_groups": []}

    def folder(self, name: str) -> Path:
        """The private folder of one server, made where it is missing."""
        path = self.servers / name
        path.mkdir(mode=0o700, exist_ok=True)
        self.give(path)
        return path

    def give(self, path: Path) -> None:
        """Make `path` belong to the user that the servers run as."""
        if self.uid is not None:
            os.chown(path, self.uid, self.uid)

    def package(self, name: str, *, probe: str) -> Path:
        """The folder of an installed package whose programs the servers' user can run.

        `probe` is a program in it, relative to the folder, that answers to --version.
        """
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            raise Trouble(f"The package {name} is missing; install what requirements.txt lists.")
        source = Path(next(iter(spec.submodule_search_locations)))
        if self.uid is None or self._can_run(source / probe):
            return source
        # A name with the version in it: an upgraded package is copied anew.
        copies = self.servers / "programs" / f"{name}-{metadata.version(name)}"
        if not copies.exists():
            _copy_for_everyone(source, copies)
        return copies / name

    def _can_run(self, program: Path) -> bool:
        try:
            done = subprocess.run(
                [program, "--version"], capture_output=True, check=False, cwd="/", **self.identity
            )
        except OSError:
            return False
        return done.returncode == 0


def _can_enter(folder: Path, uid: int) -> bool:
    """Whether that user reaches the folder: asked of the system, which also knows of ACLs and mounts."""
    question = ["/bin/sh", "-c", 'cd "$1"', "sh", str(folder)]
    done = subprocess.run(
        question, check=False, capture_output=True, cwd="/", user=uid, group=uid, extra_groups=[]
    )
    return done.returncode == 0


def _owner_of_cluster(data: Path) -> int | None:
    """Who made the servers' files here, where an ordinary user did before root came along."""
    cluster = data / "postgres"
    return cluster.stat().st_uid or None if cluster.is_dir() else None


def _folder_elsewhere(data: Path) -> Path:
    """Root's folder under /var/tmp for this data folder; anybody may write there, so its owner is checked."""
    name = "secondlook-" + hashlib.sha256(os.fsencode(data)).hexdigest()[:12]
    folder = ELSEWHERE / name
    folder.mkdir(mode=0o711, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != 0:
        raise Trouble(f"{folder} belongs to somebody else; remove it, or choose another folder with --data.")
    return folder


def _copy_for_everyone(source: Path, target: Path) -> None:
    """Copy a package and the libraries that its wheel keeps beside it, readable by everyone, in one step."""
    half = target.with_name(target.name + ".half")
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(parents=True)
    for part in (source, source.with_name(source.name + ".libs")):
        if part.exists():
            shutil.copytree(
                part, half / part.name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
            )
    for path in (target.parent, half, *half.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | 0o044 | (0o011 if mode & 0o100 else 0))
    half.replace(target)
