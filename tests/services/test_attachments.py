"""What the database bounds about attached files is what the rules bound, and what is decided about them is told."""

import pytest

from approvals import sql
from approvals.models import Decision, Payload
from approvals.rules import attachments as rules
from tests import factories as f
from tests.services import sends
from tests.services.conftest import database, desk, mia

__all__ = ["database", "desk", "mia"]

SQL = sql.read("0023_attachments.up.sql", prefix="x")


@pytest.mark.parametrize(
    "said",
    [
        f"check (size between 1 and {rules.MOST_BYTES})",
        f"check (position between 1 and {rules.MOST})",
        f"> {rules.MOST_TOGETHER} then",
        f"char_length(filename) <= {rules.LONGEST_NAME} ",
    ],
)
def test_the_database_has_the_limits_of_the_rules(said: str) -> None:
    assert said in SQL


def test_the_log_names_the_files_that_were_approved(desk, mia, settings, tmp_path) -> None:
    settings.MEDIA_ROOT = tmp_path
    campaign = f.campaign(files=[("terms.pdf", "application/pdf", b"%PDF-1.7")])
    sends.approve(mia, campaign)
    [entry] = f.rows(Decision.objects.filter(kind="approve"))
    [payload] = f.rows(Payload.objects.filter(id=entry.payload_id))
    assert '"terms.pdf (SHA-256 ' in payload.body
