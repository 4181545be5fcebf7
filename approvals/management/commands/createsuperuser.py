"""`manage.py createsuperuser`: points to the command that does it here."""

from approvals.management.operator import DoneElsewhere


class Command(DoneElsewhere):
    """Django's would meet a column that the application may not write."""

    help = "Not used here; see member add."
    instead = "There are no superusers here; use `manage.py member add --workspace W --email E --roles R,R`."
