"""manage.py makes its own environment. Tiny packages stand in for Django's, so nothing is downloaded."""

import base64
import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.conf import settings

import manage

BASE_PYTHON = getattr(sys, "_base_executable", sys.executable)
STAND_IN = {
    "django/__init__.py": "",
    "django/core/__init__.py": "",
    "django/core/exceptions.py": "class ImproperlyConfigured(Exception): pass",
    "django/core/management/__init__.py": (
        "import os, sys\n"
        "def execute_from_command_line(argv):\n"
        "    print('handed over:', *argv[1:], os.environ.get('SECONDLOOK_DATA', ''), sys.prefix)\n"
    ),
}

Run = Callable[..., subprocess.CompletedProcess[str]]


def wheel(folder: Path, name: str, files: dict[str, str]) -> str:
    """Make a wheel, version 1; the line of a lock file that names it by hash."""
    info = f"{name}-1.dist-info"
    files = files | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(text)}")
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,"])
    target = folder / f"{name}-1-py3-none-any.whl"
    with zipfile.ZipFile(target, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return f"{name}==1 --hash=sha256:{hashlib.sha256(target.read_bytes()).hexdigest()}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A clone with nothing installed."""
    folder = tmp_path / "clone"
    wheels = folder / "wheels"
    wheels.mkdir(parents=True)
    (folder / "manage.py").write_bytes((settings.BASE_DIR / "manage.py").read_bytes())
    lock = "--no-index\n--find-links ./wheels\n"
    lock += wheel(wheels, "django", STAND_IN) + wheel(wheels, "psycopg", {"psycopg/__init__.py": ""})
    (folder / "requirements.txt").write_text(lock)
    lock += wheel(wheels, "pytest_django", {"pytest_django/__init__.py": ""})
    (folder / "requirements-dev.txt").write_text(lock)
    return folder


@pytest.fixture
def run(project: Path, tmp_path: Path) -> Run:
    """Runs its manage.py as on a bare machine: Python, pip, an empty HOME."""
    home = tmp_path / "home"
    home.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [BASE_PYTHON, project / "manage.py", *words]
        return subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def handed_over(done: subprocess.CompletedProcess[str]) -> str:
    """The last line, of a run that went well."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """What a run that failed said on standard error."""
    assert done.returncode == 1, done.stdout + done.stderr
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.real
def test_the_first_run_installs_and_the_second_does_not(run: Run, project: Path, tmp_path: Path) -> None:
    words = ("hello", "--data", "here", "--more")
    expected = f"handed over: hello --more {tmp_path / 'here'} {project / '.venv'}"
    first = run(*words)
    assert "Installing what requirements.txt names" in first.stdout
    assert handed_over(first) == expected
    assert run(*words).stdout.splitlines() == [expected]


@pytest.mark.real
@pytest.mark.parametrize("python", ["/nonexistent/python", BASE_PYTHON])
def test_what_a_killed_run_left_is_made_anew(run: Run, project: Path, python: str) -> None:
    """A .venv without its pyvenv.cfg would be the machine's own Python under another name."""
    half = project / ".venv"
    (half / "bin").mkdir(parents=True)
    (half / "bin" / "python").symlink_to(python)
    assert handed_over(run("hello")) == f"handed over: hello  {half}"


@pytest.mark.real
def test_an_installation_that_never_ended_is_made_anew(run: Run, project: Path) -> None:
    handed_over(run("hello"))
    stray = project / ".venv" / "stray"
    stray.touch()
    (project / ".venv" / ".installed").write_text(manage.HALF_WAY)
    handed_over(run("hello"))
    assert not stray.exists()


@pytest.mark.real
def test_of_two_at_once_one_installs_and_the_other_waits(run: Run) -> None:
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(run, ("one", "two")))
    assert [handed_over(each).split()[2] for each in done] == ["one", "two"]
    said = "".join(each.stdout for each in done)
    assert said.count("Installing what") == 1
    assert said.count("waiting for it") == 1


@pytest.mark.real
def test_a_changed_lock_is_installed_and_tests_need_theirs(run: Run, project: Path) -> None:
    handed_over(run("hello"))
    assert "Installing what requirements-dev.txt names" in run("test").stdout
    assert "Installing" not in run("hello").stdout, "the lock for tests holds everything of the other"
    for name in ("requirements.txt", "requirements-dev.txt"):
        lock = project / name
        lock.write_text(lock.read_text() + "# changed\n")
    assert "Installing what requirements.txt names" in run("hello").stdout


@pytest.mark.real
def test_a_package_that_is_not_the_one_in_the_lock_is_one_sentence(run: Run, project: Path) -> None:
    wheel(project / "wheels", "psycopg", {"psycopg/__init__.py": "# something else"})
    said = sentence(run("hello"))
    assert said.startswith("What requirements.txt names could not be installed: ")
    assert str(project / ".venv" / "install.log") in said
    assert "Installing" in run("hello").stdout, "nothing counts as installed"


@pytest.mark.real
def test_without_the_venv_module_the_packages_go_to_a_folder(run: Run, project: Path, tmp_path: Path) -> None:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = tmp_path / "home" / ".local" / "lib" / version / "site-packages"
    site.mkdir(parents=True)
    (site / "usercustomize.py").write_text("import sys\nsys.modules['venv'] = None\n")
    assert handed_over(run("hello")).startswith("handed over: hello")
    assert (project / ".venv" / "target" / "django").is_dir()
    assert "Installing" not in run("hello").stdout


@pytest.mark.real
def test_a_folder_for_the_data_that_is_not_named_is_one_sentence(run: Run) -> None:
    assert sentence(run("hello", "--data")) == "Name a folder after --data."


def test_the_data_folder_is_taken_from_any_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SECONDLOOK_DATA", "")
    for words in (["--data", "here"], ["--data=here"]):
        assert manage.take_data_folder(["manage.py", "doctor", *words, "--json"]) == [
            "manage.py",
            "doctor",
            "--json",
        ]
        assert os.environ["SECONDLOOK_DATA"] == str(tmp_path / "here")


def test_what_follows_two_dashes_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECONDLOOK_DATA", "")
    words = ["manage.py", "test", "--", "--data", "x"]
    assert manage.take_data_folder(words) == words
    assert os.environ["SECONDLOOK_DATA"] == ""


@pytest.mark.real
def test_the_exit_code_of_the_tests_is_passed_on() -> None:
    command = [
        sys.executable,
        settings.BASE_DIR / "manage.py",
        "test",
        "--collect-only",
        "nothing_of_the_kind",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=settings.BASE_DIR)
    assert done.returncode == 4, "pytest's code for a wrong use"


def test_an_environment_of_ones_own_needs_every_package_and_this_line_of_django(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    monkeypatch.setattr(sys, "path", [str(site)])
    lock = project / "requirements.txt"
    for name in ("django-1.0.7", "Psycopg-3"):
        assert not manage.has_everything(lock)
        (site / f"{name}.dist-info").mkdir(parents=True)
    lock.write_text(lock.read_text().replace("django==1 ", "django==1.0.2 "))
    assert manage.has_everything(lock)
    lock.write_text(lock.read_text() + 'backport==1 ; python_version < "3"\n')
    assert manage.has_everything(lock), "what has a condition may be missing"
    lock.write_text(lock.read_text().replace("django==1.0.2 ", "django==1.1 "))
    assert not manage.has_everything(lock)
