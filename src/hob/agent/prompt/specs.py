"""Spec of the tool that shows expired text again."""

from hob.core.tools import Effect, Restart, Tier, ToolGroup, ToolSpec

READ_BACK = "read_back"
"""The tool that stubs refer to."""

THE_SUMMARY = 0
"""The number that refers to the summary: entries are counted from 1."""

EARLIER = ToolGroup(
    "earlier",
    f"shows again what a stub with {READ_BACK}(number) stands for",
    (
        ToolSpec(
            READ_BACK,
            "Show the earlier text that this conversation now only names.",
            {
                "type": "object",
                "properties": {
                    "number": {"type": "integer", "minimum": THE_SUMMARY, "description": "As the stub gives it."}
                },
                "required": ["number"],
                "additionalProperties": False,
            },
            tier=Tier.READ,
            effects=frozenset({Effect.READS_UNTRUSTED}),
            restart=Restart.AGAIN,
            parallel=True,
            output_cap=24_000,
        ),
    ),
)
"""# in a group, since few turns need it"""
