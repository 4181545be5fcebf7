"""Who gets a campaign, asked one thing after the other, with what the list holds."""

from __future__ import annotations

import re
from typing import Any

import pytest

from approvals.models import Dataset
from dashboard.presenters import build_whom
from tests.views.forms import send
from tests.views.of_proposals import TYPED, a_list, opened, the_campaign, to_list, versions
from tests.world import World

pytestmark = pytest.mark.usefixtures("files")
ASKING = {"HTTP_HX_REQUEST": "true", "HTTP_HX_TARGET": "whom"}


def fields(html: str) -> tuple[list[str], list[str]]:
    """The names of the fields that are shown, and of those that only a browser without JavaScript shows."""
    part = html.partition('<div id="whom"')[2] or html
    part = re.split(r'<label for="id_name"', part)[0]
    shown, _, later = part.partition("<noscript>")
    return re.findall(r' name="(\w+)"', shown), re.findall(r' name="(\w+)"', later)


def suggested(html: str, name: str) -> list[str]:
    """What a field offers."""
    assert f'list="suggested-{name}"' in html
    [options] = re.findall(rf'<datalist id="suggested-{name}">(.*?)</datalist>', html, re.DOTALL)
    return re.findall(r'<option value="(.*?)">', options)


def asked(world: World, at: str, **chosen: str) -> str:
    """The part of the form that htmx asks for once something is chosen."""
    return world.visit("support").get(world.at(at), chosen, **ASKING).content.decode()


class TestToAList:
    def at(self, dataset: Dataset) -> str:
        return f"campaigns/new/?list={dataset.id}"

    def asked(self, world: World, dataset: Dataset, **chosen: str) -> str:
        return asked(world, "campaigns/new/", list=str(dataset.id), **chosen)

    def test_a_filter_is_asked_for_only_where_not_everybody_gets_it(self, world: World) -> None:
        dataset = a_list(world)
        page = world.visit("support").get(world.at(self.at(dataset))).content.decode()
        assert fields(page) == (["who"], ["column", "value"])
        for chosen, there in (
            ({"who": "all"}, ["who"]),
            ({"who": "some"}, ["who", "column", "value"]),
            ({"who": "some", "column": "3"}, ["who", "column", "value"]),
            ({"who": "some", "column": "9"}, ["who", "column", "value"]),
            ({"who": "nobody", "column": "3"}, ["who"]),
        ):
            assert fields(self.asked(world, dataset, **chosen)) == (there, []), chosen

    def test_a_value_is_suggested_from_what_the_column_holds_for_those_who_can_be_reached(
        self, world: World
    ) -> None:
        dataset = a_list(
            world,
            "email,city\na@x.example,Oslo\nb@x.example,Bergen\nc@x.example,Oslo\nd@x.example,\nnobody,Paris\n",
        )
        assert suggested(self.asked(world, dataset, who="some", column="2"), "value") == ["Oslo", "Bergen"]

    def test_what_nobody_could_pick_as_it_is_is_not_suggested(self, world: World) -> None:
        odd = ["Os\u200blo", " Oslo", "x" * 201, "", "Bergen <b>"]
        rows = "".join(f'p{n}@x.example,"{city}"\n' for n, city in enumerate(odd))
        dataset = a_list(world, f"email,city\n{rows}")
        html = self.asked(world, dataset, who="some", column="2")
        assert suggested(html, "value") == ["Bergen &lt;b&gt;"]

    def test_of_a_long_list_its_beginning_is_looked_at_and_that_is_said(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(build_whom, "ROWS_LOOKED_AT", 1)
        html = self.asked(world, a_list(world), who="some", column="3")
        assert suggested(html, "value") == ["Oslo"]
        assert (
            "This column holds Oslo. These are of the first 1 rows of the list; anything else can be typed."
            in html
        )

    def test_so_many_are_suggested_and_no_more(self, world: World) -> None:
        rows = "".join(f"p{n}@x.example,City {n:03}\n" for n in range(60))
        html = self.asked(world, a_list(world, f"email,city\n{rows}"), who="some", column="2")
        assert len(suggested(html, "value")) == build_whom.MOST_SUGGESTED == 50
        assert "This column holds City 000, City 001, City 002, City 003, City 004 and others." in html

    def test_a_column_that_holds_nothing_is_told_as_that(self, world: World) -> None:
        dataset = a_list(world, "email,city\na@x.example,\nnobody,Paris\n")
        html = self.asked(world, dataset, who="some", column="2")
        assert "No row that can be written to has anything in this column." in html

    def test_what_was_refused_comes_back_with_all_that_was_filled_in(self, world: World) -> None:
        answer = to_list(world, a_list(world), who="some", column="3", value="Paris")
        html = answer.content.decode()
        assert fields(html) == (["who", "column", "value"], [])
        assert 'value="Paris"' in html
        assert suggested(html, "value") == ["Bergen", "Oslo"]

    def test_a_filter_that_contradicts_is_there_to_be_mended(self, world: World) -> None:
        html = to_list(world, a_list(world), who="all", value="Oslo").content.decode()
        assert fields(html) == (["who", "value"], ["column"])

    def test_everybody_is_proposed_without_the_fields_that_were_not_shown(self, world: World) -> None:
        client, form = opened(world, f"list={a_list(world).id}")
        form.fields = {name: form.fields[name] for name in ("external_id", "shown")}
        assert send(client, form, **TYPED, who="all").status_code == 303
        assert len(versions(world)) == 1


class TestAnotherVersion:
    def asked(self, world: World, campaign: Any, **chosen: str) -> str:
        return asked(world, f"campaigns/{campaign.id}/new-version", **chosen)

    def test_a_list_is_asked_for_before_what_depends_on_it(self, world: World) -> None:
        dataset = a_list(world)
        to_list(world, dataset)
        campaign, other = the_campaign(world), str(dataset.id)
        page = world.visit("support").get(world.at(f"campaigns/{campaign.id}/new-version")).content.decode()
        assert fields(page) == (["who"], ["dataset", "column", "value"])
        for chosen, there in (
            ({"who": "rest", "dataset": other}, ["who"]),
            ({"who": "all"}, ["who", "dataset"]),
            ({"who": "all", "dataset": other, "column": "city"}, ["who", "dataset"]),
            ({"who": "some"}, ["who", "dataset"]),
            ({"who": "some", "dataset": "nonsense"}, ["who", "dataset"]),
            ({"who": "some", "dataset": other}, ["who", "dataset", "column", "value"]),
            ({"who": "all", "dataset": other, "value": "Oslo"}, ["who", "dataset"]),
        ):
            assert fields(self.asked(world, campaign, **chosen)) == (there, []), chosen

    @pytest.mark.parametrize("column", ["", "town", "email"])
    def test_nothing_is_suggested_for_a_column_that_the_list_has_not(self, world: World, column: str) -> None:
        dataset = a_list(world)
        to_list(world, dataset)
        html = self.asked(world, the_campaign(world), who="some", dataset=str(dataset.id), column=column)
        assert "suggested-value" not in html and "This column" not in html

    def test_columns_and_values_are_those_of_the_chosen_list(self, world: World) -> None:
        dataset = a_list(world)
        to_list(world, dataset)
        other = a_list(world, "email,land\ncem@example.com,Norway\n")
        campaign = the_campaign(world)
        html = self.asked(world, campaign, who="some", dataset=str(dataset.id), column="city")
        assert suggested(html, "column") == ["first_name", "city"]
        assert suggested(html, "value") == ["Bergen", "Oslo"]
        assert suggested(self.asked(world, campaign, who="some", dataset=str(other.id)), "column") == ["land"]

    def test_it_is_for_whoever_may_propose(self, world: World) -> None:
        dataset = a_list(world)
        to_list(world, dataset)
        for at in (f"campaigns/{the_campaign(world).id}/new-version", f"campaigns/new/?list={dataset.id}"):
            assert world.visit("manager").get(world.at(at), **ASKING).status_code == 403
