#!/usr/bin/env python3
"""The way in: makes its own environment where the packages are missing, then hands over to Django.

Needs nothing but Python 3.11 and pip. Installed is exactly what the lock file names, by hash; the hash
of the lock file is written down last, so an installation that was cut short is done again.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import re
import runpy
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
PYTHON = VENV / "bin" / "python"
TARGET = VENV / "target"  # where the packages go if this Python has no venv module
INSTALLED = VENV / ".installed"  # the hash of the lock file that was installed
INSTALL_LOG = VENV / "install.log"
HALF_WAY = "half way"
MISLEADING = (
    *("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"),
    *("PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_REQUIRE_VIRTUALENV"),
)


def main() -> None:
    """Run one command."""
    argv = take_data_folder(sys.argv)
    if argv[1:3] == ["log", "verify"]:
        verify_log(argv[3:])
    command = argv[1] if len(argv) > 1 else ""
    if not packages_are_here(command):
        install(command)
        hand_over(argv)
    if command == "test":
        os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(argv)
    except ImproperlyConfigured as error:
        fail(str(error))
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def verify_log(words: list[str]) -> NoReturn:
    """Verify an exported log: for auditors, who have this folder and Python and nothing else."""
    program = str(HERE / "approvals" / "rules" / "verify_log.py")
    sys.argv = [program, *words]
    runpy.run_path(program, run_name="__main__")
    raise SystemExit(0)


def fail(sentence: str) -> NoReturn:
    """End with one sentence."""
    print(sentence, file=sys.stderr)
    raise SystemExit(1)


def take_data_folder(argv: list[str]) -> list[str]:
    """Move `--data DIR` from any command's words into SECONDLOOK_DATA; the words that are left."""
    rest: list[str] = []
    words = iter(argv)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word == "--data" or word.startswith("--data="):
            folder = next(words, "") if word == "--data" else word.partition("=")[2]
            if not folder:
                fail("Name a folder after --data.")
            os.environ["SECONDLOOK_DATA"] = str(Path(folder).expanduser().resolve())
        else:
            rest.append(word)
    return rest


def lock_file(command: str) -> Path:
    """What has to be installed for a command. The one for tests holds everything of the other."""
    return HERE / ("requirements-dev.txt" if command == "test" else "requirements.txt")


def is_installed(command: str) -> bool:
    """Whether .venv holds what the lock file of this command names."""
    if not INSTALLED.exists():
        return False
    enough = {lock_file("test")} | {lock_file(command)}
    return INSTALLED.read_text() in {hash_of(lock) for lock in enough if lock.exists()}


def hash_of(file: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def packages_are_here(command: str) -> bool:
    """Whether this very Python can run the command: in .venv as installed, or in your own environment."""
    ours = Path(sys.prefix).resolve() == VENV.resolve() or str(TARGET) in sys.path
    if not ours:
        return has_everything(lock_file(command))
    needed = ["django", "psycopg", *(["pytest_django"] if command == "test" else [])]
    importable = all(importlib.util.find_spec(name) for name in needed)
    if is_installed(command) and not importable:
        fail(f"The packages in {VENV} are damaged; remove that folder and start again.")
    # Without our mark it was made by hand, and whoever did so looks after it.
    return importable and (is_installed(command) or not INSTALLED.exists())


def has_everything(lock: Path) -> bool:
    """Whether this Python has all that a lock file names, in whatever versions, and the same line of Django."""
    have: dict[str, str] = {}
    for folder in map(Path, reversed(sys.path)):
        for info in folder.glob("*.dist-info"):
            name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
            have[plain_name(name)] = version
    # Not those with a condition, which may not hold here.
    pinned = re.findall(r"^([\w.-]+)==(\S+)(?! *;)(?=\s|$)", lock.read_text(), re.MULTILINE)
    want = {plain_name(name): version for name, version in pinned}
    return want.keys() <= have.keys() and line_of(have.get("django", "")) == line_of(want.get("django", ""))


def plain_name(name: str) -> str:
    """A package's name in the one spelling that compares."""
    return re.sub(r"[-_.]+", "-", name).lower()


def line_of(version: str) -> list[str]:
    """5.2 of 5.2.19."""
    return version.split(".")[:2]


def install(command: str) -> None:
    """Make .venv and install the lock file into it. One process at a time; the others wait for it."""
    if sys.version_info < (3, 11):  # noqa: UP036 - somebody runs an older one
        fail(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}.")
    try:
        # The lock is on the folder that holds the real .venv, which several clones may share by a link.
        held = os.open(VENV.resolve().parent, os.O_RDONLY)
        wait_for_turn(held)
        if not is_installed(command):
            install_now(lock_file(command), held)
        os.close(held)
    except OSError as error:
        fail(f"{error.filename or VENV} cannot be written: {error.strerror or error}.")
    except KeyboardInterrupt:
        fail("Stopped; the next start goes on from here.")


def wait_for_turn(descriptor: int) -> None:
    """Take the lock, saying so where somebody else has it. It goes away with this process and its pip."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("Another manage.py is installing; waiting for it ...", flush=True)
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def install_now(lock: Path, held: int) -> None:
    """Install with pip, into a virtual environment if this Python can make one, else into a folder."""
    started = time.monotonic()
    env = {name: value for name, value in os.environ.items() if name not in MISLEADING}
    if cut_short() or not venv_works(env):
        print(f"Making {VENV} ...", flush=True)
        make = [sys.executable, "-m", "venv", "--clear", str(VENV)]
        subprocess.run(make, env=env, capture_output=True, check=False, pass_fds=[held])
    if venv_works(env):
        pip, into = [str(PYTHON), "-m", "pip"], []
        env["PIP_REQUIRE_VIRTUALENV"] = "1"  # never into the machine's own Python
    else:
        pip, into = [sys.executable, "-m", "pip"], ["--target", str(TARGET)]
        if subprocess.run([*pip, "--version"], env=env, capture_output=True, check=False).returncode:
            fail("pip is missing; install it first (on Debian: apt install python3-pip).")
        # A folder has no uninstall: start from an empty one.
        shutil.rmtree(VENV, ignore_errors=True)
        VENV.mkdir(exist_ok=True)
    INSTALLED.write_text(HALF_WAY)
    print(f"Installing what {lock.name} names; the first time this takes a minute ...", flush=True)
    exact = ["--no-deps", "--require-hashes", "--only-binary", ":all:"]
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    with INSTALL_LOG.open("w") as log:
        done = subprocess.run(
            [*pip, "install", *quiet, *exact, "-r", str(lock), *into],
            env=env,
            stdout=log,
            stderr=log,
            check=False,
            pass_fds=[held],
        )
    if done.returncode:
        errors = [line for line in INSTALL_LOG.read_text().splitlines() if line.startswith("ERROR")]
        why = errors[-1].removeprefix("ERROR:").strip() if errors else "pip gave no reason"
        fail(f"What {lock.name} names could not be installed: {why} (all that pip said: {INSTALL_LOG})")
    INSTALLED.write_text(hash_of(lock))
    print(f"Installed in {time.monotonic() - started:.0f} s.", flush=True)


def cut_short() -> bool:
    """Whether an installation began and never ended."""
    return INSTALLED.exists() and INSTALLED.read_text() == HALF_WAY


def venv_works(env: dict[str, str]) -> bool:
    """Whether .venv is whole, pip included.

    Without its pyvenv.cfg its Python runs all right, but as the machine's own, and pip would install there.
    """
    ask = [str(PYTHON), "-c", "import pip, sys; print(sys.prefix)"]
    try:
        said = subprocess.run(ask, env=env, capture_output=True, text=True, check=False)
    except OSError:
        return False
    return said.returncode == 0 and Path(said.stdout.strip()).resolve() == VENV.resolve()


def hand_over(argv: list[str]) -> NoReturn:
    """Become the same command in the environment just made."""
    words = [str(HERE / "manage.py"), *argv[1:]]
    if TARGET.exists():
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(TARGET), os.environ.get("PYTHONPATH")]))
        os.execv(sys.executable, [sys.executable, *words])  # noqa: S606
    os.execv(PYTHON, [str(PYTHON), *words])  # noqa: S606


if __name__ == "__main__":
    main()
