"""What a request says of its own charset changes nothing: pages and forms are UTF-8."""

import io

import pytest
from django.conf import settings
from django.test import RequestFactory

from dashboard.requests import Application, Utf8Request

CHARSETS = ["hex", "rot13", "idna", "undefined", "unicode_escape", "raw_unicode_escape", "utf-16", "nonsense"]


def environ(path: str = "/", **more: object) -> dict[str, object]:
    return RequestFactory()._base_environ(PATH_INFO=path, **more)


@pytest.mark.parametrize("charset", CHARSETS)
def test_an_address_is_read_as_utf_8(charset: str) -> None:
    request = Utf8Request(
        environ(QUERY_STRING="q=%5Cud800&name=%C3%A9", CONTENT_TYPE=f"text/plain; charset={charset}")
    )
    assert (request.GET["q"], request.GET["name"]) == ("\\ud800", "é")


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded"])
def test_a_form_is_read_as_utf_8(charset: str, kind: str) -> None:
    parts = b'--x\r\nContent-Disposition: form-data; name="reason"\r\n\r\n\\ud800\r\n--x--\r\n'
    body = parts if "multipart" in kind else b"reason=%5Cud800"
    request = Utf8Request(
        environ(
            REQUEST_METHOD="POST",
            CONTENT_TYPE=f"{kind}; charset={charset}",
            CONTENT_LENGTH=str(len(body)),
            **{"wsgi.input": io.BytesIO(body)},
        )
    )
    assert request.POST["reason"] == "\\ud800"


@pytest.mark.parametrize("charset", CHARSETS)
def test_the_server_answers_whatever_charset_is_named(charset: str) -> None:
    said: list[str] = []
    body = Application()(
        environ(
            "/healthz",
            QUERY_STRING="x=%5Cud800",
            CONTENT_TYPE=f"text/plain; charset={charset}",
            HTTP_HOST=settings.ALLOWED_HOSTS[0],
        ),
        lambda status, headers: said.append(status),
    )
    assert b"".join(body) and said == ["200 OK"]
