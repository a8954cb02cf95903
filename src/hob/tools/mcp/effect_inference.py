"""What the arguments and effects of a foreign tool probably are, by its name, its schema and what it says of itself.

A guess is shown to the owner before it counts. What is not recognised is taken at its worst: a tool whose verb says
nothing has all effects, and an argument of unknown use keeps a call from being exempt from questions.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import ALL_EFFECTS, Effect, Tier

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_LOOKS = _set("get list read find fetch search describe show lookup retrieve inspect browse")
_READS = _LOOKS | _set("diff explain compare summarize")
_READS_FIRST = _set("query view check count")
_READS_LAST = _set("tree info status log stat head tail history")
"""They read where they are the first word, or the last: in `execute_query` and `log_call` they do not."""
_SENDS = _set(
    "send post reply mail email message notify share publish invite forward comment tweet pay transfer book order "
    "submit upload call broadcast buy purchase request wire charge refund withdraw deposit donate sell trade bid "
    "checkout subscribe rent reserve push emit"
)
_WRITES = _set(
    "create add update set write edit move copy rename delete remove append insert put patch replace merge close "
    "archive assign save store clear reset mark toggle schedule cancel restore drop truncate wipe purge erase "
    "destroy modify change alter upsert overwrite revoke grant enable disable approve reject accept decline lock "
    "unlock ban block import sync commit apply register attach detach link unlink"
)
_EXECUTES = _set(
    "execute exec run eval evaluate shell bash powershell terminal invoke launch spawn trigger start stop restart kill "
    "install uninstall deploy build"
)
_NOUNS = _set(
    "post mail email message comment order book share request call upload purchase trade deposit refund invite tweet "
    "store schedule archive patch commit link run build"
)
"""Verbs that name a thing where they stand behind one that looks: `get_post`, `list_open_order`."""
_JOINS = _set("and or then")
_PROGRAMS = _set("sql command commands cmd script scripts shell")
"""Arguments that are carried out, by their last word."""

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
_MAX_SAID = 3


def guess_effects(name: str, schema: Mapping[str, Any], hints: Mapping[str, Any]) -> frozenset[Effect]:
    """The worst that any verb of the name and any argument stands for; with no verb, all effects.

    What the server says of the tool makes it no milder: `readOnlyHint` can only take back that it reads.
    """
    verbs = _verbs(words_of(name))
    if verbs & _EXECUTES or any(_is_program(words_of(each), verbs) for each in _properties(schema)):
        return ALL_EFFECTS
    if verbs & (_SENDS | _WRITES):
        return frozenset({Effect.COMMUNICATES, Effect.WRITES_FINALLY})
    reads = "" not in verbs and hints.get("readOnlyHint", True) is True
    return frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED}) if reads else ALL_EFFECTS


def _verbs(words: Sequence[str]) -> frozenset[str]:
    """The known verbs among the words of a name; an empty one for each part of it that has none."""
    found: set[str] = set()
    parts: list[list[str]] = [[]]
    for word in words:
        if word in _JOINS:
            parts.append([])
        else:
            parts[-1].append(word)
    for part in parts:
        found |= {*_verbs_of(part)} or {""}
    return frozenset(found)


def _verbs_of(part: Sequence[str]) -> Iterator[str]:
    looks = False
    for place, word in enumerate(part):
        reads = word in _READS or (word in _READS_FIRST and place == 0)
        reads = reads or (word in _READS_LAST and place == len(part) - 1)
        if reads or (word in _SENDS | _WRITES | _EXECUTES and not (looks and word in _NOUNS)):
            yield word
        looks = looks or word in _LOOKS
    if part[:2] == ["check", "out"]:
        yield "checkout"


def _is_program(argument: Sequence[str], verbs: frozenset[str]) -> bool:
    """Whether an argument is carried out; a code may also be one of a country, which tools look up."""
    if argument == ("code",):
        return not verbs & _LOOKS
    return argument[-1:] != () and (argument[-1] in _PROGRAMS or "sql" in argument)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def tier_of(effects: frozenset[Effect]) -> Tier:
    """How high the risk is."""
    return Tier.READ if effects <= {Effect.READS_PRIVATE, Effect.READS_UNTRUSTED} else Tier.HIGH_RISK


def guess_roles(
    server: str, name: str, schema: Mapping[str, Any], effects: frozenset[Effect]
) -> tuple[ArgumentRole, frozenset[Effect]]:
    """What the arguments are, and the effects as they then are: what fetches an address it is given talks to it."""
    found: dict[str, list[str]] = {}
    reading = tier_of(effects) is Tier.READ
    for argument, declared in _properties(schema).items():
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
    said = [each for role in _SAID for each in getattr(roles, role)][:_MAX_SAID]
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
