"""Forms with files, as RFC 7578 has them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hob.testing.model_server.hypertext import Asked


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a form. `filename` is empty where it is no file."""

    body: bytes
    filename: str = ""


def read_form(asked: Asked) -> Mapping[str, Field]:
    """The form's fields by their names. Raises ValueError."""
    found = re.fullmatch(r'multipart/form-data;.*?boundary="?([^";]+)"?.*', asked.headers.get("content-type", ""))
    if found is None:
        raise ValueError("not a form")
    fields = {}
    for part in asked.body.split(b"--" + found[1].encode())[1:-1]:
        head, _, body = part.partition(b"\r\n\r\n")
        named = dict(re.findall(r'(name|filename)="([^"]*)"', head.decode()))
        fields[named["name"]] = Field(body.removesuffix(b"\r\n"), named.get("filename", ""))
    return fields
