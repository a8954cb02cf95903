"""Spec of the tool `browser`, whose effects depend on the action."""

from collections.abc import Mapping

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import Effect, Tier, ToolGroup, ToolSpec, Variant

_READS, _FETCHES = frozenset({Effect.READS_UNTRUSTED}), frozenset({Effect.READS_UNTRUSTED, Effect.COMMUNICATES})
_TAKES = _FETCHES | {Effect.WRITES}
_ALL = _TAKES | {Effect.WRITES_FINALLY, Effect.PERSISTS, Effect.READS_PRIVATE}
_ELEMENTS = ("ref", "to", "fields")
_PLAIN = ("action", "kind", "tab", "ref", "to", "seconds", "width", "height", "accept", "full", "profile")


def _roles(says: str, *, paths: tuple[str, ...] = (), sources: tuple[str, ...] = ()) -> ArgumentRole:
    bodies = ("text", "fields")
    return ArgumentRole(
        paths=paths, sources=sources, pages=("page",), bodies=bodies, plain=_PLAIN, elements=_ELEMENTS, says=says
    )


_NOTHING = Variant(frozenset(), ArgumentRole(plain=_PLAIN), Tier.READ)
_LOOKS = Variant(_READS, ArgumentRole(plain=(*_PLAIN, "page", "text")), Tier.READ)
_GOES = Variant(_FETCHES, ArgumentRole(urls=("url",), plain=_PLAIN), Tier.READ)
_ACTS: Mapping[str, str] = {
    "click": "click {ref} at {page}",
    "type": "type {text} into {ref} at {page}",
    "press": "press {text} at {page}",
    "hover": "point at {ref} at {page}",
    "drag": "drag {ref} to {to} at {page}",
    "select": "choose {text}{fields} in {ref} at {page}",
    "fill": "fill in {fields} at {page}",
}
_OWNERS = "open the browser with your own profile and its logins"
_VARIANTS: Mapping[str, Variant] = {
    **dict.fromkeys(("start", "stop", "status", "profiles"), _NOTHING),
    "start owner": Variant(
        frozenset({Effect.READS_PRIVATE, Effect.PERSISTS}),
        ArgumentRole(plain=_PLAIN, says=_OWNERS, configures=True),  # needs approval in every mode
    ),
    **dict.fromkeys(("open", "navigate"), _GOES),
    **dict.fromkeys(("tabs", "focus", "close", "snapshot", "screenshot", "console"), _LOOKS),
    **dict.fromkeys(("act wait", "act resize", "act close"), _LOOKS),
    "pdf": Variant(_READS | {Effect.WRITES}, ArgumentRole(paths=("path",), plain=_PLAIN), Tier.WRITE),
    **{f"act {kind}": Variant(_FETCHES, _roles(says)) for kind, says in _ACTS.items()},
    "act evaluate": Variant(_FETCHES, _roles("run a script at {page}")),  # a script may send data anywhere
    "dialog": Variant(_FETCHES, _roles("answer the next question of {page} with {accept} {text}")),
    "upload": Variant(_FETCHES, _roles("send the file {path} to {page}", sources=("path",))),
    "download": Variant(_TAKES, _roles("download what {ref} leads to at {page}", paths=("path",))),
}


def _text(about: str = "", maximum: int = 0) -> Mapping[str, object]:
    told = {"type": "string", **({"description": about} if about else {})}
    return {**told, "minLength": 0, "maxLength": maximum} if maximum else told


BROWSER_TOOL = ToolSpec(
    name="browser",
    description=(
        "Use web pages: open, read a snapshot with references, act on them. Results show the page after it.\n"
        "Do not type passwords: ask the user to write /browser take, log in, and write /browser back."
    ),
    schema={
        "type": "object",
        "properties": {
            "action": {
                "type": "string",
                "enum": [
                    *("start", "stop", "status", "profiles", "tabs", "open", "focus", "close", "navigate", "snapshot"),
                    *("screenshot", "act", "console", "pdf", "upload", "dialog", "download"),
                ],
            },
            "kind": {
                "type": "string",
                "enum": [
                    *("", "click", "type", "press", "hover", "drag", "select", "fill", "resize", "wait", "evaluate"),
                    "close",
                ],
            },
            "url": _text("For open (a new tab) and navigate"),
            "page": _text("The address of the page you act on, as last shown; acting needs it"),
            "ref": _text("An element, by its [ref=] in the last snapshot"),
            "to": _text("Where to drag it"),
            "text": _text("To type, select or wait for; a key to press; an answer to a dialog", 20_000),
            "fields": {
                "type": "array",
                "items": {"type": "string"},
                "description": "To fill, each REF=TEXT; to select several, the options",
            },
            "script": _text("A JavaScript expression or function to evaluate", 20_000),
            "path": _text("A file to upload; a new one for pdf and download"),
            "tab": {"type": "integer", "description": "0: the current one"},
            "seconds": {"type": "number"},
            "width": {"type": "integer"},
            "height": {"type": "integer"},
            "accept": {"type": "boolean"},
            "full": {"type": "boolean", "description": "A screenshot of more than what is visible"},
            "profile": {
                "type": "string",
                "enum": ["", "owner"],
                "description": "owner (start): with the owner's logins, if they allow it",
            },
        },
        "required": ["action"],
    },
    effects=_ALL,
    timeout=90,
    varies_by=("action", "kind", "profile"),
    variants=_VARIANTS,
)
BROWSING = ToolGroup("browser", "pages: click, type, look", (BROWSER_TOOL,))
