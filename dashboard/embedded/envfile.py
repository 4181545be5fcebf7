"""Files of NAME=value lines for their owner only: the secrets, and the environment of a running `up`."""

import os
from collections.abc import Mapping
from pathlib import Path


def read(path: Path) -> dict[str, str]:
    """The names and values in `path`; empty where there is no such file."""
    if not path.exists():
        return {}
    lines = path.read_text().splitlines()
    pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith("#"))
    return {name.strip(): value for name, _, value in pairs}


def write(path: Path, values: Mapping[str, str]) -> None:
    """Replace `path` in one step, for its owner only. ValueError for a value of several lines."""
    for name, value in values.items():
        if "\n" in value:
            raise ValueError(f"{name} has more than one line")
    half = path.with_name(path.name + ".new")
    half.unlink(missing_ok=True)
    with open(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123
        file.writelines(f"{name}={value}\n" for name, value in values.items())
        file.flush()
        os.fsync(file.fileno())
    half.replace(path)
