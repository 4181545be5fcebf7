"""Moments read at a glance, and the absolute time with its zone is never far."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from dashboard.presenters.ages import absolute, due, span, when

NOW = datetime(2025, 11, 29, 17, 25, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        (timedelta(seconds=4), "just now"),
        (timedelta(seconds=-4), "just now"),
        (timedelta(seconds=59), "59 s ago"),
        (timedelta(seconds=60), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=23, minutes=59), "23 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=29), "29 days ago"),
        (timedelta(days=30), "30 Oct 2025"),
        (timedelta(minutes=-40), "in 40 min"),
        (timedelta(days=-400), "3 Jan 2027"),
    ],
)
def test_a_moment_is_relative_to_now(gone: timedelta, said: str) -> None:
    assert when(NOW - gone, NOW).relative == said


def test_it_prints_itself_with_the_absolute_time_and_zone_in_its_title() -> None:
    assert str(when(NOW - timedelta(hours=2), NOW)) == (
        '<time datetime="2025-11-29T15:25:03+00:00" title="29 Nov 2025, 15:25:03 UTC">2 h ago</time>'
    )


def test_full_and_clock_show_the_absolute_time() -> None:
    moment = when(NOW, NOW, ZoneInfo("Europe/Berlin"))
    assert moment.full == '<time datetime="2025-11-29T17:25:03+00:00">29 Nov 2025, 18:25:03 CET</time>'
    assert ">18:25:03</time>" in moment.clock
    assert "29 Nov 2025, 18:25:03 CET" in moment.clock


def test_the_zone_is_named_with_its_summer_time() -> None:
    assert (
        absolute(datetime(2025, 7, 1, 12, tzinfo=UTC), ZoneInfo("Europe/Berlin"))
        == "1 Jul 2025, 14:00:00 CEST"
    )


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-3, "0 s"),
        (8.4, "8 s"),
        (60, "1 min"),
        (252, "4 min 12 s"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
        (47 * 3600, "47 h"),
        (3 * 86400, "3 days"),
    ],
)
def test_a_span_uses_two_units_at_most(seconds: float, said: str) -> None:
    assert span(seconds) == said


@pytest.mark.parametrize(
    ("left", "label", "tone"),
    [
        (timedelta(hours=3), "send by: in 3 h", "quiet"),
        (timedelta(minutes=40), "send by: in 40 min", "warn"),
        (timedelta(minutes=-5), "send-by passed 5 min ago", "danger"),
    ],
)
def test_a_send_by_gets_louder_as_it_comes_nearer(left: timedelta, label: str, tone: str) -> None:
    chip = due(NOW + left, NOW)
    assert (chip.label, chip.tone) == (label, tone)
    assert chip.title.endswith("UTC")
