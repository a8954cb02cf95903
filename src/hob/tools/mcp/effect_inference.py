"""Inference of a foreign tool's effects and argument roles from its name, schema and hints.

The owner sees the result before it counts. The worst is assumed about anything unrecognised: a tool whose name has no
known verb has all effects, and an argument of unknown use rules out exemptions from approval.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import ALL_EFFECTS, Effect, Tier

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


_LOOKS = _words("get list read find fetch search describe show lookup retrieve inspect browse")
_READS = _LOOKS | _words("diff explain compare summarize")
_READS_FIRST = _words("query view check count")
_READS_LAST = _words("tree info status log stat head tail history")
"""Verbs that mean reading as the first or the last word, but not in `execute_query` and `log_call`."""
_SENDS = _words(
    "send post reply mail email message notify share publish invite forward comment tweet pay transfer book order "
    "submit upload call broadcast buy purchase request wire charge refund withdraw deposit donate sell trade bid "
    "checkout subscribe rent reserve push emit"
)
_WRITES = _words(
    "create add update set write edit move copy rename delete remove append insert put patch replace merge close "
    "archive assign save store clear reset mark toggle schedule cancel restore drop truncate wipe purge erase "
    "destroy modify change alter upsert overwrite revoke grant enable disable approve reject accept decline lock "
    "unlock ban block import sync commit apply register attach detach link unlink"
)
_EXECUTES = _words(
    "execute exec run eval evaluate shell bash powershell terminal invoke launch spawn trigger start stop restart kill "
    "install uninstall deploy build"
)
_NOUNS = _words(
    "post mail email message comment order book share request call upload purchase trade deposit refund invite tweet "
    "store schedule archive patch commit link run build"
)
"""Verbs that are nouns after a reading verb: `get_post`, `list_open_order`."""
_CONJUNCTIONS = _words("and or then")
_PROGRAMS = _words("sql command commands cmd script scripts shell")
"""Last words of the names of arguments that are executed."""

_ROLES: Mapping[str, frozenset[str]] = {
    "recipients": _words("to cc bcc recipient recipients email emails attendee attendees participants phone iban"),
    "urls": _words("url urls uri link href endpoint webhook website"),
    "paths": _words(
        "path paths file files filename filepath directory dir folder source destination target root attachment "
        "attachments"
    ),
    "names": _words(
        "channel room repo repository owner project team group user username users org organization workspace "
        "account thread chat board list branch database table"
    ),
    "amounts": _words("amount price cost total sum"),
    "bodies": _words(
        "body text content contents message subject title description comment html markdown caption note notes data "
        "value payload summary observations"
    ),
    "things": _words("id ids key keys name names entity entities issue page event item slug number uuid ref"),
    "plain": _words(
        "query q pattern limit offset count page per sort order direction format lang language timezone state status "
        "since until date time start end from cursor depth head tail encoding type kind mode max min size width height "
        "recursive all include exclude fields filter filters labels tags sections lines verbose dry run duration steps "
        "a b location"
    ),
}
_ROLES_SAID = ("recipients", "names", "amounts", "urls", "paths", "things", "bodies")
_MAX_SAID = 3


def guess_effects(name: str, schema: Mapping[str, Any], hints: Mapping[str, Any]) -> frozenset[Effect]:
    """Infer the effects from the worst verb of the name and the arguments. Without a known verb, all effects are
    assumed.

    The server's hints cannot make a tool milder: `readOnlyHint: false` revokes a reading verdict, `true` grants
    nothing.
    """
    verbs = _verbs(words_of(name))
    if verbs & _EXECUTES or any(_is_program(words_of(each), verbs) for each in _properties(schema)):
        return ALL_EFFECTS
    if verbs & (_SENDS | _WRITES):
        return frozenset({Effect.COMMUNICATES, Effect.WRITES_FINALLY})
    reads = "" not in verbs and hints.get("readOnlyHint", True) is True
    return frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED}) if reads else ALL_EFFECTS


def _verbs(words: Sequence[str]) -> frozenset[str]:
    """Return the known verbs among the words of a name, and an empty string for each part that has none."""
    found: set[str] = set()
    parts: list[list[str]] = [[]]
    for word in words:
        if word in _CONJUNCTIONS:
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
    """Return whether an argument is executed. `code` may also be a country code, which tools look up."""
    if argument == ("code",):
        return not verbs & _LOOKS
    return argument[-1:] != () and (argument[-1] in _PROGRAMS or "sql" in argument)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def tier_of(effects: frozenset[Effect]) -> Tier:
    """Return the tier of these effects."""
    return Tier.READ if effects <= {Effect.READS_PRIVATE, Effect.READS_UNTRUSTED} else Tier.HIGH_RISK


def guess_roles(
    server: str, name: str, schema: Mapping[str, Any], effects: frozenset[Effect]
) -> tuple[ArgumentRole, frozenset[Effect]]:
    """Infer the roles of the arguments, and add effects that follow: a tool that fetches a given URL communicates."""
    found: dict[str, list[str]] = {}
    reading = tier_of(effects) is Tier.READ
    for argument, declared in _properties(schema).items():
        role = _role(str(argument), declared if isinstance(declared, Mapping) else {})
        if role == "urls" and not reading:
            role = "sent_to"
        if not role and reading:  # the tool only reads, so an unknown argument is a filter
            role = "plain"
        if role:
            found.setdefault(role, []).append(str(argument))
    if reading and found.get("urls"):
        effects |= {Effect.COMMUNICATES}
    roles = ArgumentRole(**{role: tuple(names) for role, names in found.items()})  # type: ignore[arg-type]  # names alone
    said = [each for role in _ROLES_SAID for each in getattr(roles, role)][:_MAX_SAID]
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
        return ""  # nested fields cannot be judged by the argument's name
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
    """Split a name into words, in any spelling: `createIssue`, `create_issue`, `create-issue`."""
    return tuple(found[0].lower() for found in _WORDS.finditer(name))
