"""Setting a workspace up: its runtimes, how far each store is read, and adding one whose store is to be read."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from approvals.db.binding import bind
from approvals.models import Decision, Observation, Runtime, Workspace
from approvals.selectors.payloads import contents_of
from approvals.services import secrets, setup
from tests.house import OPERATOR
from tests.views.forms import form_of, forms_of, send
from tests.views.reading import Read
from tests.world import World

STORE = "postgresql://reader:s3cr3t@db.example:5432/sessions"
TYPED = {
    "name": "support-prod",
    "base_url": "http://agents.example:8000/",
    "database_url": STORE,
    "silence_s": "120",
}


def added(world: World, name: str = "support-prod", **words: Any) -> Runtime:
    """A runtime that is read."""
    with bind(world.workspace.id):
        return setup.add_runtime(
            by=OPERATOR, name=name, kind="adk", base_url="http://agents.example", database_url=STORE, **words
        ).runtime


def observed(world: World, **columns: Any) -> None:
    """What a worker wrote about the reading. A number of seconds is a moment so long ago."""
    moments = ("troubled_since", "read_at", "pass_began_at", "pass_ended_at")
    values = {
        name: Now() - timedelta(seconds=value) if name in moments else value
        for name, value in columns.items()
    }
    with world.bound():
        Observation.objects.update(**values)


def look_at(answer: Any) -> Read:
    """The page that an answer leads to."""
    return Read(answer.client.get(answer.headers["Location"]))


def look(world: World, path: str = "setup/", role: str = "admin") -> Read:
    return Read(world.visit(role).get(world.at(path)))


class TestThePage:
    def test_is_in_the_navigation_of_an_admin_alone(self, world: World) -> None:
        assert look(world, "").links["Setup"] == world.at("setup/")
        for role in ("support", "reviewer", "manager"):
            assert "Setup" not in look(world, "", role).links

    def test_shows_a_runtime_that_reports(self, world: World) -> None:
        page = look(world)
        assert "Reports by itself Its runs come when it reports them." in page
        assert "Reports through the machine API" in page
        assert "hx-get" not in page.html

    def test_says_kindly_that_there_is_none(self, world: World) -> None:
        with bind(setup.create_workspace(by=OPERATOR, name="Empty").id):
            setup.add_member(by=OPERATOR, email=world.people["admin"].email, roles=["admin"])
        page = Read(world.visit("admin").get("/w/empty/setup/"))
        assert "No runtime yet" in page and "Add an ADK runtime" in page

    def test_shows_what_its_service_and_its_applications_allow(self, world: World) -> None:
        added(world)
        page = look(world)
        assert "ADK version Not known yet" in page
        assert "Its service has not described its applications yet." in page
        facts = {
            "booking": {"root": "llm", "hides_calls": False, "detail": ""},
            "helper": {"root": "llm", "hides_calls": True, "detail": "Its tool asks looks like an agent."},
            "odd": "nobody knows",
        }
        observed(world, version="2.13.0", facts=facts, notice="The service did not list its apps (HTTP 500).")
        page = look(world)
        assert "ADK version 2.13.0" in page
        assert "booking Every call is seen" in page
        assert "helper May hide calls Its tool asks looks like an agent." in page
        assert "odd May hide calls" in page
        assert "The service did not list its apps (HTTP 500)." in page

    def test_says_that_an_admin_called_it_one_that_hides_calls(self, world: World) -> None:
        added(world, hides_calls=True)
        observed(world, facts={"booking": {"root": "llm", "hides_calls": False, "detail": ""}})
        page = look(world)
        assert "It was set up as one whose agents hide calls" in page
        assert "Every call is seen" not in page

    def test_never_shows_where_the_database_is(self, world: World) -> None:
        runtime = added(world)
        for page in (look(world), look(world, f"setup/{runtime.id}/")):
            assert "s3cr3t" not in page.html and "db.example" not in page.html and "reader" not in page.html


class TestTheReading:
    def test_waits_for_a_worker_at_first(self, world: World) -> None:
        added(world)
        page = look(world)
        assert "Waits for its first read It begins within seconds." in page
        assert 'hx-trigger="every 2s"' in page.html

    def test_counts_the_sessions_of_the_first_pass(self, world: World) -> None:
        added(world)
        observed(world, read_at=2, pass_began_at=60, pass_done=12_400, pass_total=100_000)
        page = look(world)
        assert "First read 12,400 of 100,000 sessions read" in page
        assert (
            '<progress max="100000" value="12400" aria-label="12,400 of 100,000 sessions read">' in page.html
        )
        assert "Until all are read, some may be missing there." in page

    def test_says_when_it_is_up_to_date_and_how_long_ago_somebody_looked(self, world: World) -> None:
        added(world)
        observed(
            world, read_at=8, pass_began_at=600, pass_ended_at=500, pass_done=100_000, pass_total=100_000
        )
        page = look(world)
        assert "Up to date looked 8 s ago" in page
        assert (
            "Every session was last compared with what is known of it 8 min ago (100,000 sessions)." in page
        )
        assert "<progress" not in page.html
        assert 'hx-trigger="every 10s"' in page.html

    def test_tells_of_the_pass_that_goes_on_in_the_background(self, world: World) -> None:
        added(world)
        observed(world, read_at=1, pass_began_at=60, pass_ended_at=500, pass_done=1_200, pass_total=3_000)
        assert "that goes on all the time, now at 1,200 of 3,000 sessions." in look(world)

    def test_says_that_nobody_looks_and_what_to_do(self, world: World) -> None:
        added(world)
        observed(world, read_at=720, pass_ended_at=900)
        page = look(world)
        assert "Nobody looks looked 12 min ago See that a worker of the queue observe runs" in page

    def test_says_why_the_store_cannot_be_read_since_when_and_what_to_do(self, world: World) -> None:
        runtime = added(world)
        observed(
            world, read_at=300, pass_ended_at=900, troubled_since=240,
            trouble="The database refused the user or the password.",
        )  # fmt: skip
        page = look(world)
        assert "Cannot be read last read 5 min ago The database refused the user or the password." in page
        assert "This began 4 min ago. Nothing is lost" in page
        link = page.links["Say its new database address"]
        assert link == world.at(f"setup/{runtime.id}/#database")
        here = look(world, f"setup/{runtime.id}/")
        assert "Nothing is lost" in here and "Say its new database address" not in here.links
        assert 'id="database"' in here.html

    @pytest.mark.parametrize("here", ["", "?here=1"])
    def test_comes_as_a_small_fragment(self, world: World, here: str) -> None:
        runtime = added(world)
        observed(world, troubled_since=9, trouble="<b>No</b> answer.\u202e")
        page = look(world, f"setup/{runtime.id}/live{here}")
        assert page.html.strip().startswith('<div class="reading"')
        assert "<html" not in page.html and "<form" not in page.html
        assert "&lt;b&gt;No&lt;/b&gt; answer." in page.html and "\u202e" not in page.html
        assert ("Say its new database address" in page.links) == (not here)

    def test_of_one_that_reports_is_asked_for_no_more(self, world: World) -> None:
        page = look(world, f"setup/{world.runtime.id}/live")
        assert "Reports by itself" in page and "hx-get" not in page.html
        assert not [form for form in forms_of(world.visit("admin").get(world.at(f"setup/{world.runtime.id}/")))
                    if "database" in form.action]  # fmt: skip


class TestAdding:
    def test_stores_what_was_typed_and_comes_back_to_the_page(self, world: World) -> None:
        client = world.visit("admin")
        answer = send(client, form_of(client.get(world.at("setup/")), "/setup/add"), **TYPED)
        assert (answer.status_code, answer["location"]) == (303, world.at("setup/"))
        stored = world.read(lambda: Runtime.objects.get(name="support-prod"))
        assert (stored.kind, stored.base_url, stored.silence_s) == ("adk", "http://agents.example:8000", 120)
        assert not stored.hides_calls
        assert secrets.unseal(stored.database_url) == STORE
        page = Read(client.get(world.at("setup/")))
        assert "Added: support-prod is read within seconds." in page
        assert "Waits for its first read" in page

    def test_takes_a_word_that_its_agents_hide_calls(self, world: World) -> None:
        world.visit("admin").post(world.at("setup/add"), {**TYPED, "hides_calls": "on"})
        assert world.read(lambda: Runtime.objects.get(name="support-prod")).hides_calls

    def test_is_in_the_log_under_the_admins_name(self, world: World) -> None:
        world.visit("admin").post(world.at("setup/add"), TYPED)
        entry = world.read(lambda: Decision.objects.latest("seq"))
        given = world.read(lambda: contents_of([entry.payload_id])[entry.payload_id])
        assert (entry.kind, entry.actor_kind, entry.actor_name) == ("runtime_added", "member", "Ada Admin")
        assert given["store"] == "db.example:5432/sessions"
        page = look(world, f"decisions/{entry.id}/")
        assert "Ada Admin added the runtime support-prod" in page
        assert "Its database db.example:5432/sessions" in page

    @pytest.mark.parametrize(
        ("wrong", "words"),
        [
            ({"name": ""}, "This is missing."),
            ({"name": "two\nlines\x00"}, "Null characters are not allowed."),
            ({"name": "runtime"}, 'There is already a runtime "runtime" in this workspace.'),
            ({"base_url": "agents.example"}, "The base URL begins with http:// or https:// and a host."),
            ({"base_url": ""}, "This is missing."),
            ({"database_url": ""}, "This is missing."),
            ({"database_url": "mysql://reader:s3cr3t@db.example/x"}, "other databases are not read."),
            ({"database_url": "postgresql://reader:s3cr3t@db.example"}, "the name of one database."),
            ({"silence_s": "soon"}, "Write a whole number of seconds, from 1 to 604800."),
            ({"silence_s": "0"}, "Write a whole number of seconds, from 1 to 604800."),
            ({"silence_s": "9" * 400}, "Write a whole number of seconds, from 1 to 604800."),
        ],
        ids=str,
    )
    def test_gives_the_form_back_with_the_mistake_and_without_the_database_address(
        self, world: World, wrong: dict[str, str], words: str
    ) -> None:
        client = world.visit("admin")
        before = world.read(Runtime.objects.count)
        answer = client.post(world.at("setup/add"), {**TYPED, **wrong})
        page = Read(answer)
        assert page.status == 422
        assert words in page
        form = form_of(answer, "/setup/add")
        kept = {**TYPED, **wrong}
        assert form.fields["database_url"] == [""]
        assert "s3cr3t" not in page.html and "reader" not in page.html
        if "\x00" not in kept["name"]:
            assert [form.fields[name] for name in ("name", "base_url")] == [
                [kept["name"]],
                [kept["base_url"]],
            ]
        assert world.read(Runtime.objects.count) == before
        assert not world.read(Decision.objects.filter(kind="refused").exists)

    @pytest.mark.parametrize("role", ["support", "reviewer", "manager"])
    def test_is_for_an_admin_and_an_attempt_is_in_the_log(self, world: World, role: str) -> None:
        page = Read(world.visit(role).post(world.at("setup/add"), TYPED))
        assert page.status == 403
        assert "Only members with the role admin may set this workspace up" in page
        assert not world.read(Runtime.objects.filter(name="support-prod").exists)
        log = look(world, "decisions/", "manager")
        [row] = log.rows
        assert "Refused: new runtime" in row and "Northwind" in row
        entry = world.read(lambda: Decision.objects.get(kind="refused"))
        assert "was refused the new runtime of Northwind" in look(world, f"decisions/{entry.id}/", "manager")


class TestAnotherDatabaseAddress:
    NEW = "postgresql://reader:changed@db.example:5432/sessions"

    def test_is_stored_and_logged_and_never_shown(self, world: World) -> None:
        runtime = added(world)
        client = world.visit("admin")
        form = form_of(client.get(world.at(f"setup/{runtime.id}/")), "/database")
        answer = send(client, form, database_url=self.NEW)
        assert (answer.status_code, answer["location"]) == (303, world.at(f"setup/{runtime.id}/"))
        stored = world.read(lambda: Runtime.objects.get(id=runtime.id))
        assert secrets.unseal(stored.database_url) == self.NEW
        page = Read(client.get(world.at(f"setup/{runtime.id}/")))
        assert "Stored: the database is read anew within seconds." in page
        assert "changed@" not in page.html
        entry = world.read(lambda: Decision.objects.latest("seq"))
        words = "Ada Admin changed the runtime support-prod"
        assert words in look(world, f"decisions/{entry.id}/")

    @pytest.mark.parametrize("typed", ["", "nonsense s3cr3t", "http://reader:s3cr3t@x/y"])
    def test_is_refused_with_the_mistake_and_not_given_back(self, world: World, typed: str) -> None:
        runtime = added(world)
        answer = world.visit("admin").post(world.at(f"setup/{runtime.id}/database"), {"database_url": typed})
        assert answer.status_code == 422
        assert form_of(answer, "/database").fields["database_url"] == [""]
        assert "s3cr3t" not in answer.content.decode()
        assert 'role="alert"' in answer.content.decode()

    def test_is_not_for_a_runtime_that_reports(self, world: World) -> None:
        path = world.at(f"setup/{world.runtime.id}/database")
        page = Read(world.visit("admin").post(path, {"database_url": self.NEW}))
        assert page.status == 409 and "reports by itself" in page


class TestHowItSends:
    def store(self, world: World, **typed: str) -> Any:
        client = world.visit("admin")
        return send(client, form_of(client.get(world.at("setup/")), "/sending"), **typed)

    def set(self, world: World) -> tuple[int, int]:
        return world.read(lambda: Workspace.objects.values_list("hold_s", "messages_per_minute").get())

    def kinds(self, world: World) -> list[str]:
        """What was written down about it."""
        entries = Decision.objects.filter(kind__in=["workspace_held", "workspace_paced"]).order_by("seq")
        return world.read(lambda: list(entries.values_list("kind", flat=True)))

    def test_an_admin_says_how_long_an_approval_is_held_and_how_fast_it_sends(self, world: World) -> None:
        answer = self.store(world, hold_s="90", messages_per_minute="600")
        assert answer.status_code == 303
        assert "Stored. It holds for what is approved from now on." in look_at(answer)
        assert (self.set(world), self.kinds(world)) == ((90, 600), ["workspace_held", "workspace_paced"])
        entry = world.read(lambda: Decision.objects.get(kind="workspace_held"))
        assert (entry.actor_kind, entry.actor_name) == ("member", "Ada Admin")
        assert "set for how long approvals of Northwind are held" in look(world, f"decisions/{entry.id}/")

    def test_what_stays_as_it_was_is_no_entry(self, world: World) -> None:
        assert self.store(world).status_code == 303
        self.store(world, hold_s="60")
        self.store(world, hold_s="60")
        assert (self.set(world), self.kinds(world)) == ((60, 0), ["workspace_held"])

    @pytest.mark.parametrize("typed", ["", "-1", "86401", "soon", "1.5", "\x00", "9" * 400])
    def test_what_is_no_hold_is_a_sentence_and_changes_nothing(self, world: World, typed: str) -> None:
        answer = self.store(world, hold_s=typed, messages_per_minute="600")
        said = "Write a whole number of seconds, from 0 to 86400." if typed else "This is missing."
        assert answer.status_code == 422
        assert said in Read(answer)
        assert (self.set(world), self.kinds(world)) == ((0, 0), [])

    def test_what_is_no_pace_is_a_sentence(self, world: World) -> None:
        answer = self.store(world, messages_per_minute="1000001")
        assert "Write a whole number of messages, from 0 to 1000000." in Read(answer)

    def test_the_hold_that_was_set_is_the_one_of_the_next_approval(self, world: World) -> None:
        self.store(world, hold_s="90")
        page = look(world, f"campaigns/{world.campaign().id}/", "reviewer")
        assert "It is held for 1 min 30 s first, in which you can take it back." in page


class TestAlarm:
    def test_tells_everybody_of_a_store_that_cannot_be_read_for_five_minutes(self, world: World) -> None:
        runtime = added(world)
        observed(world, troubled_since=280, trouble="The database does not answer.")
        assert "cannot be read since" not in look(world, "", "support")
        observed(world, troubled_since=310)
        page = look(world, "", "support")
        assert "Alarm: The store of support-prod cannot be read since" in page
        assert "UTC: The database does not answer. An admin can look after it under Setup." in page
        [url] = [url for text, url in look(world, "").links.items() if "The store of support-prod" in text]
        assert url == world.at(f"setup/{runtime.id}/")
        assert not [text for text in page.links if "The store of" in text]
