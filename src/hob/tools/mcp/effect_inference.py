"""What the arguments and effects of a foreign tool probably are, by its name, its schema and what it says of itself.

A guess is shown to the owner before it counts. What is not recognised is taken at its worst: a tool whose verb says
nothing has all effects, and an argument of unknown use keeps a call from being exempt from questions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import ALL_EFFECTS, Effect, Tier

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_READS = _set(
    "get list read search find fetch query describe show view lookup check count browse tree info status diff log "
    "retrieve inspect explain compare summarize stat head tail history"
)
_SENDS = _set(
    "send post reply mail email message notify share publish invite forward comment tweet pay transfer book order "
    "submit upload call broadcast buy purchase request"
)
_WRITES = _set(
    "create add update set write edit move copy rename delete remove append insert put patch replace merge close "
    "archive assign save store clear reset open mark toggle schedule cancel restore"
)

_ROLES: Mapping[str, frozenset[str]] = {
    "recipients": _set("to cc bcc recipient recipients email emails attendee attendees participants phone iban"),
    "urls": _set("url urls uri link href endpoint webhook website"),
    "paths": _set(
        "path paths file files filename filepath directory dir folder source destination target root attachment "
        "attachments"
    ),
    "names": _set(
        "channel room repo repository owner project team group user username users org organization workspace "
        "account thread chat board list branch database table"
    ),
    "amounts": _set("amount price cost total sum"),
    "bodies": _set(
        "body text content contents message subject title description comment html markdown caption note notes data "
        "value payload summary observations"
    ),
    "things": _set("id ids key keys name names entity entities issue page event item slug number uuid ref"),
    "plain": _set(
        "query q pattern limit offset count page per sort order direction format lang language timezone state status "
        "since until date time start end from cursor depth head tail encoding type kind mode max min size width height "
        "recursive all include exclude fields filter filters labels tags sections lines verbose dry run duration steps "
        "a b location"
    ),
}
_SAID = ("recipients", "names", "amounts", "urls", "paths", "things", "bodies")
_MOST_SAID = 3


def guess_effects(name: str, hints: Mapping[str, Any]) -> frozenset[Effect]:
    """The effects, by what the server says of the tool (`readOnlyHint`, ...), else by the first verb of its name."""
    verbs = words_of(name)
    sends = any(verb in _SENDS for verb in verbs[:2])
    reads = frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED})
    if hints.get("readOnlyHint") is True and not sends:
        return reads
    if sends:
        return frozenset({Effect.COMMUNICATES, Effect.WRITES_FINALLY})
    verb = next((verb for verb in verbs if verb in _READS | _WRITES), "")
    if verb in _WRITES:
        outside = {Effect.COMMUNICATES} if hints.get("openWorldHint", True) else set()
        return frozenset({Effect.WRITES_FINALLY, *outside})
    if verb in _READS and "readOnlyHint" not in hints:
        return reads
    return ALL_EFFECTS


def tier_of(effects: frozenset[Effect]) -> Tier:
    """How high the risk is."""
    return Tier.READ if effects <= {Effect.READS_PRIVATE, Effect.READS_UNTRUSTED} else Tier.HIGH_RISK


def guess_roles(
    server: str, name: str, schema: Mapping[str, Any], effects: frozenset[Effect]
) -> tuple[ArgumentRole, frozenset[Effect]]:
    """What the arguments are, and the effects as they then are: what fetches an address it is given talks to it."""
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    found: dict[str, list[str]] = {}
    reading = tier_of(effects) is Tier.READ
    for argument, declared in properties.items():
        role = _role(str(argument), declared if isinstance(declared, Mapping) else {})
        if role == "urls" and not reading:
            role = "sent_to"
        if not role and reading:  # it only looks: what it is not told where to look in leads nowhere
            role = "plain"
        if role:
            found.setdefault(role, []).append(str(argument))
    if reading and found.get("urls"):
        effects |= {Effect.COMMUNICATES}
    roles = ArgumentRole(**{role: tuple(names) for role, names in found.items()})  # type: ignore[arg-type]  # names alone
    said = [each for role in _SAID for each in getattr(roles, role)][:_MOST_SAID]
    arguments = ", ".join(f"{{{each}}}" for each in said)
    says = f"{' '.join(words_of(name))} ({server}){': ' if arguments else ''}{arguments}"
    return ArgumentRole(**{**asdict(roles), "says": says}), effects


def _role(argument: str, schema: Mapping[str, Any]) -> str:
    words = words_of(argument)
    kinds = schema.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    last = words[-1] if words else ""
    if last in _ROLES["amounts"]:
        return "amounts"
    if "enum" in schema or set(kinds) & {"boolean", "number", "integer"}:
        return "things" if last in _ROLES["things"] else "plain"
    if "object" in kinds or _holds_objects(schema):
        return ""  # what is in it is not known by a name
    if schema.get("format") in ("uri", "url"):
        return "urls"
    if schema.get("format") == "email":
        return "recipients"
    candidates = (*reversed(words), *words)
    return next((role for word in candidates for role, names in _ROLES.items() if word in names), "")


def _holds_objects(schema: Mapping[str, Any]) -> bool:
    items = schema.get("items")
    return isinstance(items, Mapping) and items.get("type") not in ("string", "integer", "number")


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, however they are joined: `createIssue`, `create_issue`, `create-issue`."""
    return tuple(found[0].lower() for found in _WORDS.finditer(name))


def describe_effects(effects: Iterable[Effect]) -> Iterator[str]:
    """The effects as people read them, in the order in which they are declared."""
    wanted = set(effects)
    return (each.value.replace("_", " ") for each in Effect if each in wanted)
