"""Zip archives of XML files."""

import io
import zipfile
from xml.etree import ElementTree as ET

MAX_XML = 50 << 20


class Archive:
    """Members of a zip file. Raises ValueError if one is too large, KeyError if it is missing."""

    def __init__(self, data: bytes) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        self._room = 2 * MAX_XML

    def names(self) -> list[str]:
        return self._zip.namelist()

    def bytes(self, name: str) -> bytes:
        with self._zip.open(name) as member:
            data = member.read(MAX_XML + 1)
        self._room -= len(data)
        if len(data) > MAX_XML or self._room < 0:
            raise ValueError("it is too large when unpacked")
        return data

    def xml(self, name: str) -> ET.Element:
        # Expat resolves no external entities and stops entity expansion attacks; memory and time are limited too
        return ET.fromstring(self.bytes(name))  # noqa: S314
