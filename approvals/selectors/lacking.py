"""Recipients who bring no value for a merge field, which would stay visible in their message."""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from approvals.models import Version
from approvals.rules.content import fields_in

# Of a row `a` of an audience, where `fields` are the names of the merge fields. Of who was erased nobody knows.
LACKS = "a.erased_at is null and not (a.vars::jsonb ?& %(fields)s)"
_OF_VERSION = f"""from approvals_delivery d
  join approvals_audiencerow a on a.workspace_id = d.workspace_id and a.id = d.audience_row_id
  where d.version_id = %(version)s and {LACKS}"""


def lacking(version_id: UUID, names: Sequence[str]) -> tuple[int, UUID | None]:
    """(how many recipients bring no value for one of these merge fields, the first one's delivery)."""
    if not names:
        return 0, None
    with connection.cursor() as cursor:
        cursor.execute(
            f"select count(*), (array_agg(d.id order by d.position))[1] {_OF_VERSION}",
            {"version": version_id, "fields": list(names)},
        )
        row: tuple[int, UUID | None] = cursor.fetchone()
    return row


def lacked(version: Version) -> tuple[int, Sequence[str]]:
    """(how many recipients of this version lack a value, the names of the merge fields that somebody lacks)."""
    names = fields_in(version.subject_line, version.text, version.html)
    if not names:
        return 0, ()
    with connection.cursor() as cursor:
        cursor.execute(
            f"select count(*), array(select n from unnest(%(fields)s::text[]) n where not (a.vars::jsonb ? n)) lacked"  # noqa: S608
            f" {_OF_VERSION} group by lacked",
            {"version": version.id, "fields": list(names)},
        )
        rows: list[tuple[int, list[str]]] = cursor.fetchall()
    return sum(number for number, _ in rows), sorted({name for _, some in rows for name in some})
