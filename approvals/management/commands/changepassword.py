"""`manage.py changepassword`: points to the command that does it here."""

from approvals.management.operator import DoneElsewhere


class Command(DoneElsewhere):
    """Django's would meet a column that the application may not write."""

    help = "Not used here; see member password."
    instead = "Use `manage.py member password --workspace W --email E`."
