"""Environments of their own for google-adk, one a version: made once, kept, and never part of our requirements.

They lie in `adk/` of the data folder, or where SECONDLOOK_ADK_ENVS says (tests keep them from run to run). A mark is
written last, with what was installed: whatever was cut short, or made for other packages or another Python, is made
again. pip is the new environment's own and reads its usual configuration.
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dashboard.embedded.processes import end_with_parent
from dashboard.embedded.trouble import Trouble, from_os_error

VARIABLE = "SECONDLOOK_ADK_ENVS"
LATEST = "2.13.0"
DRIVERS = ("asyncpg==0.32.0", "greenlet==3.5.6", "boto3==1.44.8")  # Postgres (1.39 forgets greenlet) and S3
MARK = "installed.json"
INSTALL_S = 900
MISLEADING = (
    *("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"),
    *("PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_REQUIRE_VIRTUALENV"),
)


def root(data: Path) -> Path:
    """The folder of the environments."""
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser().resolve() if named else data / "adk"


def adk(folder: Path, version: str, say: Callable[[str], object]) -> Path:
    """The Python of an environment with google-adk of that version, made where it is missing. Raises Trouble."""
    if not version or not all(piece.isdecimal() for piece in version.split(".")):
        raise Trouble(f"“{version}” is no version of google-adk; name one such as {LATEST}.")
    return prepare(folder / f"google-adk-{version}", [f"google-adk[db]=={version}", *DRIVERS], say)


def prepare(folder: Path, requirements: Sequence[str], say: Callable[[str], object]) -> Path:
    """The Python of an environment with these packages, made where it is missing. Raises Trouble.

    One process makes it at a time; the others wait. `say` is told when something is made that takes a while.
    """
    wanted = {"requirements": list(requirements), "python": sys.version}
    python = folder / "bin" / "python"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _turn(folder.with_name(folder.name + ".lock")):
            if _mark(folder) != wanted:
                say(f"Installing {requirements[0]} into {folder}; the first time this takes a minute ...")
                shutil.rmtree(folder, ignore_errors=True)
                _make(folder, python, requirements)
                (folder / MARK).write_text(json.dumps(wanted))
    except OSError as error:
        raise from_os_error(error, folder) from error
    return python


def plain_environ() -> dict[str, str]:
    """Our environment without what would lead another Python astray."""
    return {name: value for name, value in os.environ.items() if name not in MISLEADING}


@contextmanager
def _turn(lock: Path) -> Iterator[None]:
    """Wait for our turn. The lock goes away with this process."""
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _mark(folder: Path) -> object:
    try:
        return json.loads((folder / MARK).read_text())
    except (OSError, ValueError):
        return None


def _make(folder: Path, python: Path, requirements: Sequence[str]) -> None:
    made = _run([sys.executable, "-m", "venv", folder])
    if made.returncode:
        raise Trouble(
            "This Python cannot make an environment for google-adk; install its venv module "
            "(on Debian: apt install python3-venv)."
        )
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    done = _run([python, "-m", "pip", "install", *quiet, *requirements])
    if done.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        raise Trouble(f"pip could not install {requirements[0]}: {_last_line(done.stderr or done.stdout)}")


def _run(words: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            words,
            env=plain_environ(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=INSTALL_S,
            preexec_fn=end_with_parent(signal.SIGTERM),
        )
    except subprocess.TimeoutExpired:
        raise Trouble(
            f"Installing took longer than {INSTALL_S // 60} minutes; look at the connection and start again."
        ) from None


def _last_line(text: str) -> str:
    """What pip said in the end, in one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["it did not say why."])[-1][:300]
