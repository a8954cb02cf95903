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
    "unlock ban block import sync commit apply register attach detach link unlink reschedule postpone"
)
_CREATES = _words("create add schedule insert")
_INVITED = _words("attendee attendees participant participants guest guests invitee invitees")
_REARRANGES = _words("delete remove cancel archive restore move rename reschedule postpone clear erase")
_STORES = _REARRANGES | _CREATES | _words("write update edit append set change modify replace save store put overwrite")
_FILES = _words("file files folder directory note notes")
_OWN_DATA = _words("profile info settings preferences password")
"""Last words of the names of tools whose texts stay with the owner."""
_PUBLISHES = _words("public publicly shared visibility visible permission permissions access collaborator anyone link")
_DATED = _words("date day time start end since until from")
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
    "recipients": _words(
        "to cc bcc recipient recipients email emails attendee attendees participant participants guest guests invitee "
        "invitees phone iban"
    ),
    "urls": _words("url urls uri link href endpoint webhook website"),
    "paths": _words(
        "path paths file files filename filepath directory dir folder source destination target root attachment "
        "attachments"
    ),
    "names": _words(
        "channel room repo repository owner project team group user username users org organization workspace "
        "account thread chat board list branch database table hotel restaurant company airline shop store venue "
        "provider vendor"
    ),
    "amounts": _words("amount price cost total sum"),
    "bodies": _words(
        "body text content contents message subject title description comment html markdown caption note notes data "
        "value payload summary observations street city zip country password"
    ),
    "things": _words("id ids key keys name names entity entities issue page event item slug number uuid ref"),
    "plain": _words(
        "query q pattern limit offset count page per sort order direction format lang language timezone state status "
        "since until date day days month year time start end from cursor depth head tail encoding type kind mode max "
        "min size width height "
        "recursive all include exclude fields filter filters labels tags sections lines verbose dry run duration steps "
        "a b location permission permissions"
    ),
}
_SENDING = frozenset({Effect.COMMUNICATES, Effect.WRITES_FINALLY})
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
        return _SENDING
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
    sends = effects == _SENDING
    invites = sends and _invites(name, schema, found)
    if invites:
        effects = frozenset({Effect.COMMUNICATES, Effect.WRITES})
    elif sends and _stays_with_owner(name, schema, found):
        effects = frozenset({Effect.WRITES_FINALLY})
    roles = ArgumentRole(**{role: tuple(names) for role, names in found.items()})  # type: ignore[arg-type]  # names alone
    said = [each for role in _ROLES_SAID for each in getattr(roles, role)][:_MAX_SAID]
    arguments = ", ".join(f"{{{each}}}" for each in said)
    says = f"{' '.join(words_of(name))} ({server}){': ' if arguments else ''}{arguments}"
    flags = {"invites": invites, "service_names": bool(roles.recipients)}
    return ArgumentRole(**{**asdict(roles), **flags, "says": says}), effects


def _invites(name: str, schema: Mapping[str, Any], found: Mapping[str, Sequence[str]]) -> bool:
    """Return whether the tool makes an entry to which people may be invited, and otherwise reaches no one."""
    required = schema.get("required")
    required = required if isinstance(required, list) else []
    plain = found.get("plain", ())  # such as the number of guests
    invited = any(
        words_of(str(each))[-1:] and words_of(str(each))[-1] in _INVITED and each not in (*required, *plain)
        for each in _properties(schema)
    )
    return (
        invited and _verbs(words_of(name)) <= _CREATES and found.keys() <= {"recipients", "bodies", "plain", "things"}
    )


def _stays_with_owner(name: str, schema: Mapping[str, Any], found: Mapping[str, Sequence[str]]) -> bool:
    """Return whether the tool only changes what the owner stores at its server: no argument can carry text to others.

    It moves or deletes things, or writes texts into files or the owner's own data.
    """
    words, arguments = words_of(name), _properties(schema)
    verbs = _verbs(words) - _READS_LAST  # `update_info`
    if words[0] in _REARRANGES and not _CONJUNCTIONS.intersection(words):
        verbs -= _NOUNS  # `delete_email`
    spoken = {*words, *(word for each in arguments for word in words_of(str(each)))}
    free = (each for each in found.get("plain", ()) if not _is_bounded(each, arguments[each]))
    if not verbs <= _STORES or spoken & _PUBLISHES or sum(map(len, found.values())) < len(arguments) or any(free):
        return False
    if words[-1] in _FILES:
        return found.keys() <= {"things", "paths", "bodies", "plain"}
    if words[-1] in _OWN_DATA:
        return found.keys() <= {"bodies", "plain"}
    return verbs <= _REARRANGES and "things" in found and found.keys() <= {"things", "plain"}


def _is_bounded(argument: str, schema: Any) -> bool:
    """Return whether an argument is a date, a number or a choice, which cannot carry a text."""
    return (
        bool(_DATED.intersection(words_of(argument)))
        or "enum" in schema
        or schema.get("type") in ("boolean", "number", "integer")
    )


def _role(argument: str, schema: Mapping[str, Any]) -> str:
    words = words_of(argument)
    if words in (("first", "name"), ("last", "name")):
        return "bodies"
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
