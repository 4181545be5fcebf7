"""What a local time means: one instant, none, or two; and what is no time or zone at all."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from approvals.exceptions import Invalid
from approvals.rules import zones
from approvals.rules.zones import (
    instant_given,
    local_given,
    meaning,
    moment_of,
    offset_name,
    pick_list,
    why_not_at,
    written,
    zone_named,
)

NOW = datetime(2026, 11, 30, 4, 0, tzinfo=UTC)


def utc(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def meant(local, zone):
    return meaning(datetime.fromisoformat(local), zone_named(zone))


def found(local, zone):
    """The kind, and each instant as UTC and as the clock there shows it."""
    it = meant(local, zone)
    return it.kind, [f"{one.at:%d %H:%M}={one.local:%d %H:%M} {one.offset_name}" for one in it.moments]


class TestWhatALocalTimeMeans:
    @pytest.mark.parametrize(
        ("local", "zone", "instant"),
        [
            ("2026-12-03 09:00", "+10:00", "2026-12-02 23:00"),  # G03
            ("2026-12-03 09:00", "Australia/Brisbane", "2026-12-02 23:00"),
            ("2026-12-03 09:00", "Australia/Sydney", "2026-12-02 22:00"),
            ("2026-12-03 09:00", "Asia/Kathmandu", "2026-12-03 03:15"),
            ("2026-12-03 09:00", "Pacific/Kiritimati", "2026-12-02 19:00"),
            ("2026-12-03 09:00", "Pacific/Chatham", "2026-12-02 19:15"),
            ("2026-12-03 23:30", "-12:00", "2026-12-04 11:30"),
            ("2026-12-03 00:00", "America/St_Johns", "2026-12-03 03:30"),
            ("2028-02-29 12:00", "UTC", "2028-02-29 12:00"),
            # The edges of a jump are plain: the last minute before it, and the first one after.
            ("2026-03-29 01:59", "Europe/Paris", "2026-03-29 00:59"),
            ("2026-03-29 03:00", "Europe/Paris", "2026-03-29 01:00"),
            ("2026-10-25 01:59", "Europe/Paris", "2026-10-24 23:59"),
            ("2026-10-25 03:00", "Europe/Paris", "2026-10-25 02:00"),
        ],
    )
    def test_g03_most_are_one_instant(self, local, zone, instant):
        it = meant(local, zone)
        assert (it.kind, [one.at for one in it.moments]) == ("plain", [utc(instant)])
        assert it.moments[0].local == datetime.fromisoformat(local)

    @pytest.mark.parametrize(
        ("local", "zone", "instants"),
        [
            ("2026-03-29 02:30", "Europe/Paris", ["29 00:30=29 01:30 UTC+1", "29 01:30=29 03:30 UTC+2"]),
            ("2026-03-29 02:00", "Europe/Paris", ["29 00:00=29 01:00 UTC+1", "29 01:00=29 03:00 UTC+2"]),
            (
                "2026-10-04 02:15", "Australia/Lord_Howe",
                ["03 15:15=04 01:45 UTC+10:30", "03 15:45=04 02:45 UTC+11"],
            ),
            ("2026-03-29 02:00", "Antarctica/Troll", ["29 00:00=29 00:00 UTC", "29 02:00=29 04:00 UTC+2"]),
            # A whole day that never was: the 30th of December 2011 in Samoa.
            ("2011-12-30 12:00", "Pacific/Apia", ["29 22:00=29 12:00 UTC-10", "30 22:00=31 12:00 UTC+14"]),
        ],
    )  # fmt: skip
    def test_g01_what_the_clock_skips_is_shown_as_what_lies_before_and_after(self, local, zone, instants):
        assert found(local, zone) == ("gap", instants)

    @pytest.mark.parametrize(
        ("local", "zone", "instants"),
        [
            ("2026-10-25 02:30", "Europe/Paris", ["25 00:30=25 02:30 UTC+2", "25 01:30=25 02:30 UTC+1"]),
            ("2026-10-25 02:00", "Europe/Paris", ["25 00:00=25 02:00 UTC+2", "25 01:00=25 02:00 UTC+1"]),
            (
                "2026-04-05 01:45", "Australia/Lord_Howe",
                ["04 14:45=05 01:45 UTC+11", "04 15:15=05 01:45 UTC+10:30"],
            ),
            ("2026-10-25 02:30", "Antarctica/Troll", ["25 00:30=25 02:30 UTC+2", "25 02:30=25 02:30 UTC"]),
        ],
    )  # fmt: skip
    def test_g01_what_the_clock_shows_twice_is_shown_as_both(self, local, zone, instants):
        assert found(local, zone) == ("overlap", instants)

    @settings(max_examples=400, deadline=None)
    @given(st.sampled_from(pick_list()), st.datetimes(datetime(2025, 1, 1), datetime(2028, 1, 1)))
    def test_in_every_zone_it_is_what_the_clock_there_shows(self, name, local):
        local = local.replace(second=0, microsecond=0)
        it = meaning(local, zone_named(name))
        shown = {at for at in _minutes_around(local, it) if moment_of(at, it.zone).local == local}
        if it.kind == "gap":
            assert shown == set()
            before, after = it.moments
            assert before.local < local < after.local
            assert before.at < after.at
        else:
            assert {one.at for one in it.moments} == shown

    @pytest.mark.parametrize("year", [1, 9999])
    @pytest.mark.parametrize("zone", ["+14:00", "-12:00", "Europe/Paris"])
    def test_the_ends_of_the_calendar_are_a_sentence(self, year, zone):
        with pytest.raises(Invalid, match="out of reach"):
            meaning(datetime(year, 1, 1), zone_named(zone))


def _minutes_around(local, it):
    """Instants at which a clock could show it: every offset in use, a quarter of an hour apart."""
    offsets = {one.offset for one in it.moments} | {timedelta(minutes=15 * n) for n in range(-48, 57)}
    return [(local - offset).replace(tzinfo=UTC) for offset in offsets]


class TestTheNameOfAZone:
    @pytest.mark.parametrize(
        ("text", "name", "place"),
        [
            ("Europe/Paris", "Europe/Paris", "Paris"),
            (" europe/PARIS ", "Europe/Paris", "Paris"),
            ("america/new york", "America/New_York", "New York"),
            ("America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires", "Buenos Aires"),
            ("US/Eastern", "US/Eastern", "Eastern"),
            ("utc", "UTC", "UTC"),
            ("Z", "UTC", "UTC"),
            ("GMT", "UTC", "UTC"),
            ("+00:00", "UTC", "UTC"),
            ("+10:00", "+10:00", ""),
            ("+10", "+10:00", ""),
            ("utc+5:45", "+05:45", ""),
            ("GMT-3", "-03:00", ""),
            ("\u22120930", "-09:30", ""),
            ("+14:00", "+14:00", ""),
        ],
    )
    def test_it_is_found_however_it_is_written(self, text, name, place):
        zone = zone_named(text)
        assert (zone.name, zone.place) == (name, place)
        assert zone_named(zone.name) == zone

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("", "Choose a time zone, such as Europe/Paris, UTC or +10:00."),
            ("Sydney", "There is no time zone of this name. Did you mean Australia/Sydney?"),
            (
                "Europe/Pari",
                "There is no time zone of this name. Did you mean Europe/Paris or Europe/Madrid?",
            ),
            ("+15:00", "An offset lies between -12:00 and +14:00."),
            ("-12:01", "An offset lies between -12:00 and +14:00."),
            ("+05:60", "An offset lies between -12:00 and +14:00."),
        ],
    )
    def test_what_is_none_is_a_sentence(self, text, sentence):
        with pytest.raises(Invalid) as refused:
            zone_named(text)
        assert (refused.value.field, refused.value.text) == ("zone", sentence)

    @pytest.mark.parametrize(
        "text",
        ["\x00", "../../etc/passwd", "/etc/localtime", "localtime", "Factory", "Europe", "x" * 10_000, "+1:2:3", "é"],
    )  # fmt: skip
    def test_no_file_is_a_zone_because_it_is_there(self, text):
        with pytest.raises(Invalid, match=r"Choose one from the list, or write an offset|Did you mean"):
            zone_named(text)

    def test_the_list_to_pick_from_has_places_and_each_is_accepted(self):
        listed = pick_list()
        assert listed[0] == "UTC"
        assert {"Europe/Paris", "Australia/Lord_Howe", "Antarctica/Troll", "Asia/Kathmandu"} <= {*listed}
        assert "EST" not in listed
        assert [zone_named(name).name for name in listed] == [*listed]


class TestWhatSomebodyTypes:
    @pytest.mark.parametrize(
        ("day", "clock", "local"),
        [
            ("2026-12-03", "09:00", "2026-12-03 09:00"),
            (" 2026-1-3 ", " 9:00 ", "2026-01-03 09:00"),
            ("2026-12-31", "23:59:00", "2026-12-31 23:59"),
            ("2028-02-29", "00:00", "2028-02-29 00:00"),
        ],
    )
    def test_a_date_and_a_time_are_read(self, day, clock, local):
        assert local_given(day, clock) == datetime.fromisoformat(local)

    @pytest.mark.parametrize(
        ("day", "clock", "field", "sentence"),
        [
            ("", "09:00", "date", "Choose a date."),
            ("2026-02-29", "09:00", "date", "There is no 2026-02-29 in the calendar; choose another day."),
            ("2026-13-01", "09:00", "date", "There is no 2026-13-01 in the calendar; choose another day."),
            ("0000-01-01", "09:00", "date", "There is no 0000-01-01 in the calendar; choose another day."),
            ("03.12.2026", "09:00", "date", "Write the date as year, month and day, such as 2026-12-03."),
            ("٢٠٢٦-12-03", "09:00", "date", "Write the date as year, month and day, such as 2026-12-03."),
            ("2026-12-03T09:00", "09:00", "date", "Write the date as year, month and day, such as 2026-12-03."),
            ("2026-12-03", "", "time", "Choose a time of day."),
            ("2026-12-03", "24:00", "time", "There is no 24:00: the end of 2026-12-03 is 00:00 of the next day."),
            ("2026-12-03", "24:01", "time", "There is no 24:01 on a clock; the last minute of a day is 23:59."),
            ("2026-12-03", "09:60", "time", "There is no 09:60 on a clock; the last minute of a day is 23:59."),
            ("2026-12-03", "9 am", "time", "Write the time as hours and minutes, such as 09:00 or 17:30."),
            ("2026-12-03", "09:00:30", "time", "Write the time as hours and minutes, such as 09:00 or 17:30."),
            ("2026-12-03", "\x00", "time", "Write the time as hours and minutes, such as 09:00 or 17:30."),
        ],
    )  # fmt: skip
    def test_what_is_none_is_a_sentence(self, day, clock, field, sentence):
        with pytest.raises(Invalid) as refused:
            local_given(day, clock)
        assert (refused.value.field, refused.value.text) == (field, sentence)

    @pytest.mark.parametrize(
        "text", ["2026-12-02T22:00:00+00:00", "2026-12-02T22:00:00Z", "2026-12-03T09:00+11:00"]
    )
    def test_an_instant_comes_back_as_it_went(self, text):
        assert instant_given(text) == utc("2026-12-02 22:00")

    @pytest.mark.parametrize(
        "text",
        ["", "now", "2026-12-02T22:00:00", "2026-12-03", "\x00", "9" * 5_000, "0001-01-01T00:00:00+14:00"],
    )
    def test_what_names_no_instant_is_none(self, text):
        with pytest.raises(Invalid):
            instant_given(text)


class TestWhetherItCanGoOutThen:
    def test_any_time_from_the_end_of_the_hold_on_within_a_year(self):
        for at in (NOW + timedelta(seconds=60), NOW + zones.FURTHEST):
            assert why_not_at(at, now=NOW, hold_s=60, send_by=None) == ""
        assert (
            why_not_at(NOW + timedelta(hours=1), now=NOW, hold_s=60, send_by=NOW + timedelta(hours=1)) == ""
        )

    @pytest.mark.parametrize(
        ("ahead", "sentence"),
        [
            (timedelta(), "This time has passed."),
            (timedelta(days=-3), "This time has passed."),
            (timedelta(seconds=59), "Every approval is held for 60 seconds, so that it can be taken back"),
            (timedelta(days=366, seconds=1), "This is more than a year ahead."),
            (timedelta(days=4), "This is after 2 December 2026 04:00 UTC, by which it has to be sent"),
        ],
    )
    def test_everything_else_is_a_sentence(self, ahead, sentence):
        send_by = NOW + timedelta(days=2) if ahead < timedelta(days=100) else None
        assert why_not_at(NOW + ahead, now=NOW, hold_s=60, send_by=send_by).startswith(sentence)


def test_the_log_keeps_the_instant_and_what_the_clock_showed():
    assert written(utc("2026-12-02 22:00"), zone_named("Australia/Sydney")) == {
        "at": "2026-12-02T22:00:00+00:00",
        "zone": "Australia/Sydney",
        "local": "2026-12-03 09:00 (UTC+11)",
    }


@pytest.mark.parametrize(
    ("minutes", "name"), [(0, "UTC"), (660, "UTC+11"), (345, "UTC+5:45"), (-210, "UTC-3:30"), (840, "UTC+14")]
)
def test_an_offset_has_a_name(minutes, name):
    assert offset_name(timedelta(minutes=minutes)) == name
