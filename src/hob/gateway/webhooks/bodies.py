"""What a delivery holds: JSON, or a form as old senders post it."""

from typing import Any
from urllib.parse import parse_qsl

from hob.core.errors import InvalidRequest
from hob.gateway.http.failures import HttpRefusal
from hob.gateway.http.json_body import parse_json
from hob.gateway.webhooks.schemes import Scheme

_FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 1_000


def read_body(body: bytes, content_type: str, scheme: Scheme) -> Any:
    """The value that the body stands for. Raises InvalidRequest and Refusal."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == _FORM:
        fields = _read_form(body)
        if scheme is Scheme.GITHUB and set(fields) == {"payload"}:  # GitHub's other content type wraps the same JSON
            return parse_json(str(fields["payload"]).encode("utf-8", "surrogatepass"))
        return fields
    if media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json")):
        return parse_json(body)
    raise HttpRefusal("not_json", f"send the body as `Content-Type: application/json`, or as {_FORM}")


def _read_form(body: bytes) -> dict[str, Any]:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise InvalidRequest(f"the body is no form: {error}") from error
    fields: dict[str, Any] = {}
    for name, value in pairs:
        fields[name] = [*_listed(fields[name]), value] if name in fields else value
    return fields


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
