"""The runtime as a process of its own: its command line, its start and its end."""

import ast
import dataclasses
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from dashboard import demo
from dashboard.demo.runtime import Config, main
from tests.demo.recorder import RecordedApi, until
from tests.servers.listener import unused_port

COMMAND = [sys.executable, "-m", "dashboard.demo.runtime", "--config"]


@pytest.fixture
def file(config: Config, tmp_path: Path) -> Path:
    path = tmp_path / "demo.json"
    path.write_text(json.dumps(dataclasses.asdict(config)))
    return path


@pytest.fixture
def process(file: Path, config: Config) -> Iterator[subprocess.Popen[str]]:
    port = unused_port()
    file.write_text(json.dumps({**dataclasses.asdict(config), "port": port}))
    with subprocess.Popen([*COMMAND, str(file)], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == f"The demo runtime listens on 127.0.0.1:{port}.\n"
        assert httpx.get(f"http://127.0.0.1:{port}/healthz", trust_env=False).status_code == 200
        yield running
        running.kill()


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
def test_it_plays_its_scenes_and_stops_when_told(
    name: signal.Signals, process: subprocess.Popen[str], api: RecordedApi
) -> None:
    until(lambda: api.campaigns)
    process.send_signal(name)
    assert process.wait(10) == 0


def test_it_stops_when_told_while_the_api_is_not_there(api: RecordedApi, file: Path, config: Config) -> None:
    file.write_text(
        json.dumps({**dataclasses.asdict(config), "api_url": f"http://127.0.0.1:{unused_port()}"})
    )
    with subprocess.Popen([*COMMAND, str(file)], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        lines = {running.stdout.readline(), running.stdout.readline()}
        assert any("does not answer yet; trying again" in line for line in lines)
        running.terminate()
        assert running.wait(10) == 0


def test_it_knows_nothing_of_the_product() -> None:
    imported = {
        name
        for path in Path(demo.__path__[0]).glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else _names(node))
    }
    strangers = {name for name in imported if name.partition(".")[0] not in sys.stdlib_module_names}
    assert {name for name in strangers if not name.startswith("dashboard.demo.")} == {"httpx"}


def _names(node: ast.AST) -> list[str]:
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be read: No such file or directory."),
        ("{", "is not JSON."),
        ("[]", "must hold an object."),
        ("{}", "needs api_url."),
        ({"port": "80"}, "needs port."),
        ({"secret": "whsec_!"}, "is not one."),
    ],
)
def test_a_configuration_that_is_wrong_is_said_in_a_sentence(
    content: object, sentence: str, file: Path, config: Config, capsys: pytest.CaptureFixture[str]
) -> None:
    if isinstance(content, dict):
        file.write_text(json.dumps({**dataclasses.asdict(config), **content}))
    elif content is None:
        file.unlink()
    else:
        file.write_text(str(content))
    assert main(["--config", str(file)]) == 1
    assert capsys.readouterr().out.endswith(f"{sentence}\n")


def test_a_port_in_use_is_said_in_a_sentence(
    file: Path, config: Config, api: RecordedApi, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(json.dumps({**dataclasses.asdict(config), "port": api.port}))
    assert main(["--config", str(file)]) == 1
    said = capsys.readouterr().out
    assert said == f"Port {api.port} of 127.0.0.1 cannot be used: Address already in use.\n"
