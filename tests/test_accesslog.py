"""What the access log does not tell."""

import pytest

from dashboard.accesslog import discreet


@pytest.mark.parametrize(
    ("request_line", "told"),
    [
        ("GET /w/demo/ HTTP/1.1", "GET /w/demo/ HTTP/1.1"),
        ("GET /w/demo/?q=mara%40mail.example HTTP/1.1", "GET /w/demo/ HTTP/1.1"),
        (
            "GET /accounts/password/reset/key/6-ditk6c-a972c9a6/ HTTP/1.1",
            "GET /accounts/password/reset/key/(dropped)/ HTTP/1.1",
        ),
        (
            "http://desk.example/accounts/password/reset/key/6-x-y?a=1",
            "http://desk.example/accounts/password/reset/key/(dropped)",
        ),
        ("-", "-"),
    ],
)
def test_neither_a_reset_key_nor_a_query_is_told(request_line: str, told: str) -> None:
    assert discreet(request_line) == told
