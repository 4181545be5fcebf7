"""A request counts as ours when, and only when, it is signed with the secret and fresh."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.rules.webhooks import BadSignature, new_secret, sign, signed_headers, verify

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW = 1_700_000_000
BODY = b'{"job_id":"j1"}'


def signed(**changes):
    return {**signed_headers(SECRET, "msg_1", NOW, BODY), **changes}


def test_the_signature_is_the_one_the_standard_gives_as_its_example():
    body = b'{"test": 2432232314}'
    assert sign(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body) == (
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    )


def test_what_we_sign_we_accept_and_get_its_id():
    assert verify(SECRET, signed(), BODY, now=NOW) == "msg_1"


def test_header_names_come_in_any_case():
    assert verify(SECRET, {name.title(): value for name, value in signed().items()}, BODY, now=NOW) == "msg_1"


@given(st.binary())
def test_any_body_can_be_signed(body):
    headers = signed_headers(SECRET, "msg_1", NOW, body)
    assert verify(SECRET, headers, body, now=NOW) == "msg_1"
    with pytest.raises(BadSignature):
        verify(SECRET, headers, body + b" ", now=NOW)


def test_one_good_signature_among_several_is_enough():
    good = signed()["webhook-signature"]
    assert verify(SECRET, signed(**{"webhook-signature": f"v1,old v1a,x {good}"}), BODY, now=NOW)


@pytest.mark.parametrize(
    "changes",
    [
        {"webhook-id": "msg_2"},
        {"webhook-id": ""},
        {"webhook-id": "msg.1"},
        {"webhook-timestamp": str(NOW + 1)},
        {"webhook-timestamp": ""},
        {"webhook-timestamp": "-1"},
        {"webhook-timestamp": str(NOW).translate({ord("0"): "\u0660"})},
        {"webhook-timestamp": "1e9"},
        {"webhook-signature": ""},
        {"webhook-signature": "v1,"},
        {"webhook-signature": "v1,\ud800"},
        {"webhook-signature": "v1,é"},
    ],
    ids=str,
)
def test_a_changed_header_is_refused(changes):
    with pytest.raises(BadSignature):
        verify(SECRET, signed(**changes), BODY, now=NOW)


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_a_missing_header_is_refused(name):
    headers = signed()
    del headers[name]
    with pytest.raises(BadSignature):
        verify(SECRET, headers, BODY, now=NOW)


@pytest.mark.parametrize(
    ("age", "fresh"), [(0, True), (300, True), (-300, True), (301, False), (-301, False)]
)
def test_a_request_is_good_for_five_minutes_either_way(age, fresh):
    if fresh:
        assert verify(SECRET, signed(), BODY, now=NOW + age)
    else:
        with pytest.raises(BadSignature, match="too long ago"):
            verify(SECRET, signed(), BODY, now=NOW + age)


def test_another_secret_does_not_do():
    with pytest.raises(BadSignature, match="does not match"):
        verify(new_secret(), signed(), BODY, now=NOW)


def test_no_two_new_secrets_are_equal_and_each_can_sign():
    first, second = new_secret(), new_secret()
    assert first != second
    assert verify(first, signed_headers(first, "m", NOW, b""), b"", now=NOW) == "m"


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "whsec_",
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_abc",
        SECRET.replace("K", "!K"),
        "whsec_" + "é" * 40,
    ],
)
def test_a_malformed_secret_is_a_mistake_that_does_not_show_the_secret(secret):
    with pytest.raises(ValueError, match="a signing secret is") as error:
        sign(secret, "m", NOW, b"")
    assert secret in ("", "whsec_") or secret not in str(error.value)


@pytest.mark.parametrize("message_id", ["", "a.b", "a b", "a\nb", "ü"])
def test_an_id_that_could_be_read_two_ways_is_not_signed(message_id):
    with pytest.raises(ValueError, match="message id"):
        sign(SECRET, message_id, NOW, b"")
