"""django-post_office on the same Postgres server, in an environment of its own: what others send with.

It is installed by pip into the benchmark's temporary folder and is no dependency of anything. Its mail is queued before
its clock starts; then it sends with its own command, with as many threads as we have connections, its other settings as
it is shipped.
"""

import subprocess
import venv
from dataclasses import dataclass
from pathlib import Path

import django

from dashboard.bench.send_load import HTML, SENDER, TEXT
from dashboard.bench.servers import Servers
from dashboard.bench.telling import Teller

DATABASE = "post_office"
INSTALL_S, SEND_S = 300, 600
_PROGRAM = """
import sys, time
import django
from django.conf import settings
dsn, port, number, threads, sender, text, html = sys.argv[1:]
host, dbport, user, password, name = dsn.split("|")
settings.configure(
    SECRET_KEY="of a database that lives for minutes", USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["django.contrib.contenttypes", "post_office"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "HOST": host, "PORT": dbport, "USER": user,
                           "PASSWORD": password, "NAME": name}},
    EMAIL_BACKEND="post_office.EmailBackend", EMAIL_HOST="127.0.0.1", EMAIL_PORT=int(port),
    POST_OFFICE={"THREADS_PER_PROCESS": int(threads)}, LOGGING_CONFIG=None,
)
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from post_office import mail
from post_office.models import STATUS, Email
for n in range(int(number)):
    given = {"name": f"Guest {n}", "time": "12:00"}
    for key, value in given.items():
        words = "{{ %s }}" % key
        text_of = (text if key == "name" else text_of).replace(words, value)
        html_of = (html if key == "name" else html_of).replace(words, value)
    mail.send(f"guest{n}@example.org", sender, subject=f"Guest {n}, your departure moved", message=text_of,
              html_message=html_of, priority="medium")
began = time.perf_counter()
mail.send_queued_mail_until_done()
took = time.perf_counter() - began
sent = Email.objects.filter(status=STATUS.sent).count()
Email.objects.all().delete()
print("rate", sent / took if sent == int(number) else 0, sent)
"""


@dataclass(frozen=True, slots=True)
class PostOffice:
    """It is ready to send to a mail server at this port."""

    python: Path
    dsn: str
    port: int

    def send(self, number: int, threads: int) -> float:
        """Messages a second, from its command to the last message. RuntimeError where it lost one."""
        words = [self.dsn, str(self.port), str(number), str(threads), SENDER, TEXT, HTML]
        done = subprocess.run(
            [self.python, "-c", _PROGRAM, *words], timeout=SEND_S, capture_output=True, text=True, check=False
        )
        said = done.stdout.split()
        if done.returncode or len(said) < 3 or float(said[-2]) == 0:
            raise RuntimeError(f"django-post_office did not send everything: {done.stdout}{done.stderr}")
        return float(said[-2])


def prepared(tell: Teller, running: Servers, port: int) -> tuple[PostOffice | None, str]:
    """(it, "") or (None, why it is not there)."""
    tell.say("Installing django-post_office in a folder of its own")
    folder = running.home.data / "post-office"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    wanted = ["django-post_office", f"Django=={django.__version__}", "psycopg[binary]"]
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted],
        timeout=INSTALL_S, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        why = "skipped: pip could not install django-post_office"
        tell.say(why)
        return None, why
    with running.superuser() as connection:
        connection.execute(f"create database {DATABASE}".encode())
        info = connection.info
        dsn = "|".join([info.host, str(info.port), info.user, info.password or "", DATABASE])
    return PostOffice(python, dsn, port), ""
