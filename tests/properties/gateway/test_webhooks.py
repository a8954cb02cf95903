"""Webhooks: nothing but what was signed comes in, and a template is never more than a text."""

import base64
import contextlib
import hmac
import json
import re
from collections.abc import Mapping

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hob.core.events.webhooks import sign
from hob.gateway.webhooks.schemes import Scheme, SignatureInvalid, verify
from hob.gateway.webhooks.settings import check_template, fill

SECRET = "a-secret-of-the-tests-0123"
NOW = 1_795_000_000
SCHEMES = st.sampled_from(list(Scheme))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


def signed(scheme: Scheme, body: bytes, id: str = "msg_1") -> dict[str, str]:
    """The headers of a sender who knows the secret."""

    def seal(text: bytes) -> str:
        return hmac.digest(SECRET.encode(), text, "sha256").hex()

    match scheme:
        case Scheme.HOB:
            return {"x-hob-signature": f"sha256={seal(body)}"}
        case Scheme.GITHUB:
            return {"x-hub-signature-256": f"sha256={seal(body)}"}
        case Scheme.STRIPE:
            return {"stripe-signature": f"t={NOW},v1={seal(f'{NOW}.'.encode() + body)}"}
        case Scheme.STANDARD:
            made = sign(SECRET, id, NOW, body)
            return {"webhook-id": id, "webhook-timestamp": str(NOW), "webhook-signature": made}
        case Scheme.TOKEN:
            return {"authorization": f"Bearer {SECRET}"}


def right(scheme: Scheme, headers: Mapping[str, str], body: bytes, secret: str = SECRET) -> bool:
    try:
        verify(scheme, [secret], headers, body, now=NOW, tolerance=300)
    except SignatureInvalid:
        return False
    return True


@given(SCHEMES, st.binary(max_size=200))
def test_signed_delivery_is_accepted(scheme: Scheme, body: bytes) -> None:
    assert right(scheme, signed(scheme, body), body)


@given(st.sampled_from([each for each in Scheme if each is not Scheme.TOKEN]), st.binary(max_size=80), st.data())
def test_signature_rejects_another_body(scheme: Scheme, body: bytes, data: st.DataObject) -> None:
    other = data.draw(st.binary(max_size=80) | st.just(body + b"\0") | st.just(body[:-1]) | st.just(body[1:]))
    assume(other != body)
    assert not right(scheme, signed(scheme, body), other)


@given(SCHEMES, st.binary(max_size=80), st.data())
def test_another_signature_is_rejected(scheme: Scheme, body: bytes, data: st.DataObject) -> None:
    headers = signed(scheme, body)
    name = data.draw(st.sampled_from(sorted(headers)))
    text = headers[name]
    place = data.draw(st.integers(0, len(text) - 1))
    sign_ = data.draw(st.characters(codec="utf-8") | st.just(""))
    mutated = text[:place] + sign_ + text[place + 1 :]
    assume(meant(scheme, name, mutated) != meant(scheme, name, text))
    assert not right(scheme, {**headers, name: mutated}, body)


def meant(scheme: Scheme, name: str, text: str) -> object:
    """A header without what its format leaves free: spaces around it, and how the scheme's word is written."""
    if scheme is Scheme.TOKEN:
        return re.sub("(?i)^bearer ", "", text).strip()
    return text.split() if name == "webhook-signature" else text.strip() if "hob" in name or "hub" in name else text


@given(SCHEMES, st.dictionaries(st.text(max_size=30), st.text(max_size=120), max_size=6), st.binary(max_size=80))
def test_delivery_without_the_secret_is_refused(scheme: Scheme, headers: dict[str, str], body: bytes) -> None:
    names = [*signed(scheme, b""), *headers]
    claimed = dict(zip(names, headers.values(), strict=False))
    assert not right(scheme, claimed | headers, body)
    assert not right(scheme, signed(scheme, body), body, secret="another-secret-of-tests")


@pytest.mark.parametrize("late", [-301, 301, NOW])
@pytest.mark.parametrize("scheme", [Scheme.STRIPE, Scheme.STANDARD])
def test_old_signature_is_not_accepted_again(scheme: Scheme, late: int) -> None:
    with pytest.raises(SignatureInvalid):
        verify(scheme, [SECRET], signed(scheme, b"x"), b"x", now=NOW + late, tolerance=300)


TEMPLATES = st.lists(st.sampled_from(["{{", "}}", "{", "}", ".", "@", "a", "0", "-1", " ", "\n", "é"]) | st.text()).map(
    "".join
)


@given(TEMPLATES, JSON, st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3))
def test_valid_template_accepts_any_values(template: str, body: object, headers: dict[str, str]) -> None:
    with contextlib.suppress(ValueError):
        check_template(template)
    text = fill(template, body, headers, 500)
    assert len(text) <= 500
    assert text.encode() is not None  # no half of a character is left in it


@given(JSON, st.lists(st.text(st.characters(exclude_characters=".{}@", exclude_categories=["Z", "C"]), min_size=1)))
def test_any_path_into_any_body_gives_text(body: object, path: list[str]) -> None:
    assume(path)
    template = "{{" + ".".join(path) + "}}"
    check_template(template)
    assert fill(template, body, {}, 500).encode() is not None


@given(JSON)
def test_template_values_are_unchanged(body: object) -> None:
    text = fill("{{.}}", body, {}, 100_000)
    if isinstance(body, str):
        assert text == body
    elif body is not None:
        assert text == json.dumps(json.loads(json.dumps(body)), ensure_ascii=False)


@given(st.text(max_size=50))
def test_filled_in_value_is_not_expanded_again(text: str) -> None:
    body = {"a": f"{{{{b}}}}{text}", "b": "never", "c": f"{{{text}"}
    assert fill("{{a}}{{c}}", body, {}, 500) == f"{{{{b}}}}{text}{{{text}"


@given(st.binary(min_size=1, max_size=40), st.binary(max_size=40), st.text("abc_", min_size=1, max_size=9))
def test_standard_webhook_key_is_decoded_from_base64(key: bytes, body: bytes, id: str) -> None:
    secret = "whsec_" + base64.b64encode(key).decode()
    expected = hmac.digest(key, f"{id}.{NOW}.".encode() + body, "sha256")
    assert sign(secret, id, NOW, body) == f"v1,{base64.b64encode(expected).decode()}"
