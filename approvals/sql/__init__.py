"""Plain SQL: keys, triggers, functions, policies and grants.

Each NNNN_name.up.sql is loaded by the migration of that name; grants.sql by `migrate` after every migration;
roles.sql is run before there is anything to migrate, and backup.sql for whoever takes backups. `@prefix@` stands for
the prefix of the role names, which are cluster-wide.
"""

import re
from pathlib import Path

HERE = Path(__file__).parent


def read(name: str, *, prefix: str) -> str:
    """The text of one file here (`name` with its ending), for roles of this prefix."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", prefix):
        raise ValueError("the prefix of the roles is lower-case letters, digits and underscores")
    return (HERE / name).read_text().replace("@prefix@", prefix)
