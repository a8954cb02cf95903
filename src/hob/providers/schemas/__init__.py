"""Tools as each provider takes them: their schemas, and names that every provider accepts."""

from hob.providers.schemas.dialects import SchemaDialect, normalise
from hob.providers.schemas.names import ToolNames, safe_names

__all__ = ["SchemaDialect", "ToolNames", "normalise", "safe_names"]
