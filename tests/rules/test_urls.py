"""Base URLs of runtimes, where they listen, and the addresses of their databases."""

import pytest

from approvals.exceptions import Invalid
from approvals.rules.urls import base_url_given, callback_url_given, database_url_given


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("http://127.0.0.1:9000", "http://127.0.0.1:9000"),
        ("https://agents.example/", "https://agents.example"),
        ("  https://agents.example/hooks/v1/  ", "https://agents.example/hooks/v1"),
        ("HTTPS://Agents.Example:8443/Hooks", "https://agents.example:8443/Hooks"),
        ("http://agent_runtime:8080", "http://agent_runtime:8080"),
        ("http://localhost", "http://localhost"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("http://[2001:DB8::1]", "http://[2001:db8::1]"),
        ("http://agents.example./x", "http://agents.example./x"),
        ("http://xn--bcher-kva.example", "http://xn--bcher-kva.example"),
        ("http://x.example/a%20b;c=d", "http://x.example/a%20b;c=d"),
    ],
)
def test_a_plain_address_is_kept_in_its_normal_form(text: str, normal: str) -> None:
    assert base_url_given(text) == normal
    assert base_url_given(normal) == normal


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "begins with http:// or https://"),
        ("agents.example", "begins with http:// or https://"),
        ("//agents.example", "begins with http:// or https://"),
        ("ftp://agents.example", "begins with http:// or https://"),
        ("file:///etc/passwd", "begins with http:// or https://"),
        ("javascript:alert(1)", "begins with http:// or https://"),
        ("http://", "begins with http:// or https://"),
        ("http:///x", "begins with http:// or https://"),
        ("http://user@x.example", "user name or password"),
        ("http://user:pw@x.example", "user name or password"),
        ("http://@x.example", "user name or password"),
        ("http://x.example?a=b", "after a ? or #"),
        ("http://x.example/?", "after a ? or #"),
        ("http://x.example/#", "after a ? or #"),
        ("http://x.example:99999", "no valid host and port"),
        ("http://x.example:port", "no valid host and port"),
        ("http://[::1", "no valid host and port"),
        ("http://x.example:0", "not of the form"),
        ("http://x.example:", "not of the form"),
        ("http://a..b", "not of the form"),
        ("http://-a.example", "not of the form"),
        ("http://x.example\\@evil.example", "user name or password"),
        ("http://x.example\\evil", "not of the form"),
        ('http://x.example/"', "not of the form"),
        ("http://x.example/<b>", "not of the form"),
        ("http://x .example", "does not belong there"),
        ("http://x\t.example", "does not belong there"),
        ("http://x.example/\n/y", "does not belong there"),
        ("http://x.example/\x00", "does not belong there"),
        ("http://bücher.example", "does not belong there"),
        ("http://x。example", "does not belong there"),
        ("http://x.example/\ud800", "does not belong there"),
        ("http://" + "x" * 500, "longer than"),
        (f"http://{'x' * 64}.example", "not of the form"),
    ],
)
def test_anything_else_is_refused_with_a_sentence(text: str, words: str) -> None:
    with pytest.raises(Invalid) as refusal:
        base_url_given(text)
    assert words in refusal.value.text
    assert refusal.value.field == "base_url"


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("postgresql://reader:pw@db.example:5432/adk", "postgresql://reader:pw@db.example:5432/adk"),
        ("postgres://reader@DB.example/adk", "postgresql://reader@db.example/adk"),
        (" postgresql+asyncpg://r:p%40%2Fw@127.0.0.1/adk ", "postgresql://r:p%40%2Fw@127.0.0.1/adk"),
        ("postgresql://[::1]:5432/adk?sslmode=require", "postgresql://[::1]:5432/adk?sslmode=require"),
        ("postgresql://db/my%20name", "postgresql://db/my%20name"),
    ],
)
def test_a_plain_database_address_is_kept_in_its_normal_form(text: str, normal: str) -> None:
    assert database_url_given(text) == normal
    assert database_url_given(normal) == normal


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "begins with postgresql://"),
        ("mysql://u:hush@h/d", "begins with postgresql://"),
        ("sqlite:///hush.db", "begins with postgresql://"),
        ("http://u:hush@h/d", "begins with postgresql://"),
        ("host=h password=hush", "does not belong there"),
        ("postgresql://u:hush@/d", "not of the form"),
        ("postgresql:///d", "not of the form"),
        ("postgresql://u:hush@h", "name of one database"),
        ("postgresql://u:hush@h/", "name of one database"),
        ("postgresql://u:hush@h/a/b", "name of one database"),
        ("postgresql://u:hush@h1,h2/d", "not of the form"),
        ("postgresql://u:hu@sh@h/d", "not of the form"),
        ("postgresql://u:hush@h/d#x", "not of the form"),
        ("postgresql://u:hush@h:0/d", "not of the form"),
        ("postgresql://u:hush@h:99999/d", "no valid host and port"),
        ("postgresql://u:hush@[::1/d", "no valid host and port"),
        ("postgresql://u:hush@h/d?options=-crole=x", "only option"),
        ("postgresql://u:hush@h/d?sslmode=require&host=/tmp", "only option"),
        ("postgresql://u:hush@h/d?sslmode=maybe", "only option"),
        ("postgresql://u:hush%00@h/d", "does not belong there"),
        ("postgresql://u:hush%0a@h/d", "does not belong there"),
        ("postgresql://u:hush%zz@h/d", "does not belong there"),
        ("postgresql://u:hüsh@h/d", "does not belong there"),
        ("postgresql://u:hush\n@h/d", "does not belong there"),
        ("postgresql://u:hush@h/" + "d" * 500, "longer than 500"),
    ],
)
def test_any_other_database_address_is_refused_without_repeating_it(text: str, words: str) -> None:
    with pytest.raises(Invalid) as caught:
        database_url_given(text)
    assert caught.value.field == "database_url"
    assert words in str(caught.value) and "hush" not in str(caught.value)


class TestACallbackAddress:
    @pytest.mark.parametrize(
        ("text", "kept"),
        [
            ("  HTTPS://Agents.Example/Told/  ", "https://agents.example/Told/"),
            ("http://10.0.0.5:9000/told", "http://10.0.0.5:9000/told"),
            ("http://10.0.0.5:9000", "http://10.0.0.5:9000"),
            ("", ""),
            ("  ", ""),
        ],
    )
    def test_is_kept_with_its_path_as_it_is_written_or_is_none(self, text: str, kept: str) -> None:
        assert callback_url_given(text) == kept

    @pytest.mark.parametrize(
        "text",
        ["agents.example", "ftp://x.example", "http://a:b@x.example", "http://x.example/?a=b", "http://"],
    )
    def test_is_refused_where_it_is_more_than_host_port_and_path(self, text: str) -> None:
        with pytest.raises(Invalid, match="The callback address ") as refusal:
            callback_url_given(text)
        assert refusal.value.field == "callback_url"
