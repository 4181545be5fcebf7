"""HTML is cut the way browsers cut it, whatever is wrong with it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.rules.markup import Close, Open, Text, tokens


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("a &amp; b", [Text("a & b")]),
        ("1 < 2 <3", [Text("1 < 2 <3")]),
        ("<B Class=x>y</B >", [Open("b", {"class": "x"}), Text("y"), Close("b")]),
        ("<a href='1' href=2>", [Open("a", {"href": "1"})]),
        ("<a href = \"x>y\"/>", [Open("a", {"href": "x>y"})]),
        ("<a href=&quot;x>", [Open("a", {"href": '"x'})]),
        ("<a/b=c>", [Open("a", {"b": "c"})]),
        ("<!-- <a> --><!doctype html><?php <b> ?>x", [Text(" ?>x")]),  # all up to the first > is a comment
        ("<!-->x", [Text("x")]),
        ("<!-- x --!>y", [Text("y")]),
        ("</>x</3>y", [Text("x"), Text("y")]),
        ("<script><a>&amp;</script >y", [Open("script", {}), Text("<a>&amp;", "script"), Close("script"), Text("y")]),
        ("<title>a</titles></TITLE>", [Open("title", {}), Text("a</titles>", "title"), Close("title")]),
        ("<textarea>&amp;", [Open("textarea", {}), Text("&amp;", "textarea")]),
        ("x<a href='y", [Text("x")]),
        ("x<a href", [Text("x")]),
        ("x<!-- y", [Text("x")]),
        ("x</a", [Text("x"), Close("a")]),
        ("", []),
    ],
)  # fmt: skip
def test_markup_is_cut(html, expected):
    assert list(tokens(html)) == expected


@given(st.text(alphabet="<>/!-?=\"' abscript&;", max_size=60))
def test_whatever_it_is_it_comes_to_an_end(html):
    assert sum(len(token.text) for token in tokens(html) if isinstance(token, Text)) <= len(html) * 2
