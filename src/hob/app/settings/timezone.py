"""The owner's time zone, read without the other settings: commands that print times start faster."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import tzinfo
from pathlib import Path

from hob.agent.sessions import zone_of
from hob.agent.settings import AgentSettings
from hob.config.file import FILE_NAME, read_file
from hob.config.layers import LayerReader, Values
from hob.config.problems import ConfigInvalid


def read_timezone(home: Path, environ: Mapping[str, str]) -> tzinfo | None:
    """Return the zone of `agent.timezone`; None, the machine's zone, if it is not set or cannot be read."""
    reader, values = LayerReader({"agent": AgentSettings}, home, environ), Values()
    with suppress(ConfigInvalid):
        if file := read_file(home / FILE_NAME):
            values.update(reader.read_table(file))
    values.update(reader.read_environment())
    settings = reader.build(values)["agent"]
    return zone_of(settings.timezone) if isinstance(settings, AgentSettings) else None
