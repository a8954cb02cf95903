"""Exemptions by the owner's own words: a recipient, file or address that they contain literally.

There is no substring search. The words are split into the largest pieces that may be addresses, each piece is
normalised (`hob.guard.policy.addresses`), and only equal forms match: `example.com` is not in `evil-example.com`, nor
`user@example.com` in `user@example.com.evil`. Pasted text does not count as the owner's own, as far as it can be
recognised: quoted lines, code blocks, forwarded mail, very long messages. A sentence that forbids something names
nothing.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from decimal import Decimal

from hob.core.trust.pasted import MAX_TYPED_CHARACTERS, split_pasted
from hob.core.values import dataclass
from hob.guard.policy.addresses import Target, TargetKind, handle, host, is_plain_url, mail, path, phone, recipient

_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[^\Wa-zäöüß]|\W)|\n+")
_FORGET = re.compile(
    r"\b(?:do not|don['\u2019]?t|never|nicht|niemals) (?:forget|vergessen)\b|\bvergiss (?:bitte )?nicht\b",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"\b(?:not|never|no|without|except|instead of|rather than|avoid|ignore|dont|doesnt|cant|wont)\b|n['\u2019]t\b"
    r"|\b(?:nicht|nie|niemals|kein\w*|ohne|außer|statt|anstatt)\b",
    re.IGNORECASE,
)
_NORWAY = re.compile(r"(?<=[\w-]\.)no\b")  # the end of an address, not a word
_EDGE = re.compile(r"[\s<>\"“”„«»()\[\],;]+")
_URL_EDGE = re.compile(r"[\s<>\"“”„«»]+")
_HTTP = re.compile(r"https?://", re.IGNORECASE)
_QUOTED = re.compile(
    r"\"([^\"\n]{1,300})\"|“([^”\n]{1,300})”|„([^“”\n]{1,300})[“”]|`([^`\n]{1,300})`|«([^»\n]{1,300})»"
)
_PREFIX = re.compile(r"(?:mailto|to|an|cc|bcc|mail|e-?mail|tel|phone|telefon):(?=.)", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w+@./-])(?:\+|00?)?[1-9(][\d \-/().]{5,30}\d(?![\w@])", re.ASCII)
_ACCOUNT = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")
_AMOUNT = re.compile(r"(?<![\w.,/:-])\d+(?:[.,' \u00a0\u202f]\d{3})*(?:[.,]\d{1,2})?(?![\w/:-]|[.,]\d)")
_MONEY = r"(?:€|\$|£|¥|EUR|USD|GBP|CHF|euros?|dollars?|pounds?|francs?|franken|cents?)"
_MONEY_BEFORE, _MONEY_AFTER = re.compile(_MONEY + r" ?$", re.IGNORECASE), re.compile(" ?" + _MONEY, re.IGNORECASE)
_STARTS = re.compile(r"(?:^|[.!?:;\n])[\s\"'(]*$")
_ROOM = re.compile(r"\b(?:channel|room|group|kanal|raum|gruppe)\W{0,2}$", re.IGNORECASE)
_ROOM_AFTER = re.compile(r"\W{0,2}(?:channel|room|group|kanal|raum|gruppe)\b", re.IGNORECASE)
_NUMBER_OF = re.compile(r"(?:\bid|\bids|\bnumber|\bno\.|\bnr\.?|\bnummer)\W{0,3}$", re.IGNORECASE)
_PAIRS = (("'", "'"), ("`", "`"), ("*", "*"), ("\u2018", "\u2019"))
_QUOTES = frozenset("\"'`\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb")
_WORD = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
# Top-level domains that are also file extensions: in words they name a file.
_FILE_ENDINGS = frozenset({
    "bz", "cab", "cat", "cc", "md", "mk", "ml", "mm", "mov", "pl", "pm", "ps", "pub", "py", "rs", "sh", "so", "st",
    "tf", "ts", "vb", "zip",
})  # fmt: skip


def own_words(text: str) -> str:
    """Return the part of a message that its sender wrote for this occasion; "" if it is too long for that."""
    if len(text) > MAX_TYPED_CHARACTERS:
        return ""
    own = "\n".join(part for part, pasted in split_pasted(text) if not pasted)
    return "\n".join(part for part in _SENTENCE.split(own) if part and not _forbids(part))


def _forbids(sentence: str) -> bool:
    return _FORBIDS.search(_NORWAY.sub("", _FORGET.sub("", sentence))) is not None


@dataclass(frozen=True, slots=True)
class OwnerWords:
    """The things that the owner's words of a turn name. Created by `parse_owner_words`."""

    targets: frozenset[Target] = frozenset()
    urls: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    people: Mapping[Target, str] = field(default_factory=dict)
    contacts: Mapping[str, int] = field(default_factory=dict)
    """Number of stored addresses of each admitted person mentioned, by name."""
    words: frozenset[str] = frozenset()
    amounts: frozenset[Decimal] = frozenset()
    own: str = ""

    def names_thing(self, name: str) -> bool:
        """Return whether the words contain this name of a person, room, place or thing, used as a name.

        A single word counts only if it is written like a name: with a capital or a digit within a sentence, in quotes,
        after `#` or `@`, next to "channel", or like a file; a number counts only after "id". So politeness does not
        name an account called "please", nor does a time of day name a file called 13.
        """
        bare = name.strip().lstrip("#@")
        if not bare or not bare.isprintable():
            return False
        return any(
            _is_name(bare, self.own, found) for found in re.finditer(rf"(?<!\w){re.escape(bare)}(?!\w)", self.own)
        )

    def names_amount(self, amount: str) -> bool:
        """Return whether the words contain this amount of money."""
        found = list(_sums(amount))
        return len(found) == 1 and found[0] in self.amounts

    def covers(self, text: str) -> bool:
        """Return whether a text consists only of words of the owner's, so that it carries nothing else."""
        return all(found[0].casefold() in self.words for found in _WORD.finditer(text)) and len(text) <= len(self.own)

    def names_recipient(self, target: Target | None, channel: str = "", here: str = "") -> bool:
        """Return whether this address, or the one person it belongs to, is named.

        A handle is valid on one platform only. The words must name that platform too, unless the conversation is on it
        (`here`).
        """
        if target is None:
            return False
        if target in self.people:
            return True
        if target not in self.targets:
            return False
        if target.kind in (TargetKind.MAIL, TargetKind.PHONE) or not channel:
            return True
        return channel.casefold() in (here.casefold(), *self.words)

    def names_person(self, name: str, channel: str = "", here: str = "") -> bool:
        """Return whether this is the name of an admitted person, used as a name, and leads to one address.

        If the person has several addresses, the words must name the channel too, unless the conversation is on it
        (`here`).
        """
        wanted = name.strip().casefold()
        for known, addresses in self.contacts.items():
            if known.casefold() == wanted and self.names_thing(known):
                return addresses == 1 or (bool(channel) and channel.casefold() in (here.casefold(), *self.words))
        return False

    def names_host(self, target: Target | None) -> bool:
        """Return whether the words name this host on its own. A URL names only itself, not its host."""
        return target is not None and target in self.targets

    def names_url(self, url: str) -> bool:
        """Return whether the words contain this URL byte for byte."""
        return url in self.urls and is_plain_url(url)

    def names_path(self, path: str) -> bool:
        """Return whether the words name this normalised path. A named folder does not cover its contents."""
        return bool(path) and path in self.paths


NO_WORDS = OwnerWords()


def parse_owner_words(
    texts: Iterable[str],
    *,
    base: str = "/",
    home: str = "/",
    country: str = "",
    contacts: Mapping[str, tuple[str, ...]] | None = None,
    hosts: Collection[str] = (),
) -> OwnerWords:
    """Collect what these messages of the owner name. `contacts` are stored addresses by name; `country` is a calling
    code. `hosts` are the owner's own: one without a dot counts if it is written with its port, or is `localhost`.
    """
    words = "\n".join(filter(None, map(own_words, texts)))
    if not words:
        return NO_WORDS
    tokens = [token for token in map(_bare, _EDGE.split(words)) if token and token.isprintable()]
    targets: set[Target] = set()
    for token in tokens:
        targets.update(_addresses(token))
        if (own := host(token)) is not None and own.value.partition(":")[0] in hosts:
            targets.update([own] if ":" in token or own.value == "localhost" else [])
    for account in _ACCOUNT.finditer(words):
        if (found := recipient(account[0])) is not None:
            targets.add(found)
    for number in _NUMBER.finditer(words):
        if (found := phone(number[0], country)) is not None:
            targets.add(found)
    urls = {each for token in _URL_EDGE.split(words) if "://" in token for each in _spellings(token)}
    quoted = [next(filter(None, found.groups()), "") for found in _QUOTED.finditer(words)]
    people, known = _people(words, contacts or {}, country)
    named = [token for token in tokens if "/" in token.strip("/") or "." in token.strip(".")] + quoted
    paths = {path(each, base=base, home=home) for each in named if "://" not in each}
    return OwnerWords(
        frozenset(targets),
        frozenset(filter(is_plain_url, urls)),
        frozenset(paths - {"", "/"}),
        people,
        known,
        frozenset(found[0].casefold() for found in _WORD.finditer(words)),
        _amounts(words),
        words,
    )


def urls_in(text: str) -> frozenset[str]:
    """Return all URLs in a text that no person wrote, such as a search result."""
    found = (
        url for start in _HTTP.finditer(text) for url in _spellings(_URL_EDGE.split(text[start.start() :][:2_000])[0])
    )
    return frozenset(filter(is_plain_url, found))


def _is_name(name: str, text: str, found: re.Match[str]) -> bool:
    before, after = text[: found.start()], text[found.end() :]
    if before[-1:] in ("#", "@") or (before[-1:] in _QUOTES and after[:1] in _QUOTES):
        return True
    if name.isdigit():
        return _NUMBER_OF.search(before) is not None
    if _ROOM.search(before) or _ROOM_AFTER.match(after):
        return True
    if " " in name or any(char in name.strip("._-") for char in "._/-"):
        return True
    return any(char.isupper() or char.isdigit() for char in name) and _STARTS.search(before) is None


def _amounts(words: str) -> frozenset[Decimal]:
    """Return amounts of money: numbers next to a currency, or all numbers if there is no currency. Account numbers do
    not count.
    """
    text = _ACCOUNT.sub(" ", words)
    found = list(_AMOUNT.finditer(text))
    money = [
        each for each in found if _MONEY_BEFORE.search(text[: each.start()]) or _MONEY_AFTER.match(text[each.end() :])
    ]
    return frozenset(value for each in money or found for value in _sums(each[0]))


def _sums(text: str) -> Iterator[Decimal]:
    """Yield the numbers in a text. In `1.200` and `1,200` the separator marks thousands."""
    for each in _AMOUNT.finditer(_ACCOUNT.sub(" ", text)):
        plain = re.sub(r"[' \u00a0\u202f]", "", each[0])
        whole, sep, part = plain, "", ""
        if plain[-3:-2] in (".", ",") or plain[-2:-1] in (".", ","):
            sep = max(".,", key=plain.rfind)
            whole, _, part = plain.rpartition(sep)
        digits = re.sub(r"[.,]", "", whole)
        yield Decimal(f"{digits}.{part}" if sep else digits).normalize()


def _addresses(token: str) -> Iterable[Target]:
    """Yield the piece as every kind of address that it may be. At most one of them is right."""
    bare = _PREFIX.sub("", token, count=1) if _PREFIX.match(token) else token
    readers: tuple[Callable[[str], Target | None], ...] = (mail, handle)
    for read in readers:
        if (found := read(bare)) is not None:
            yield found
    if "@" in token:
        return
    if (named := host(token)) is not None and _is_host(named.value):
        yield named
    if any(char.isdigit() for char in token) and (opaque := recipient(token)) is not None:
        yield opaque


def _is_host(name: str) -> bool:
    last = name.partition(":")[0].rpartition(".")[2]
    return "." in name and (last.isdigit() or (len(last) > 1 and last not in _FILE_ENDINGS))


def _bare(token: str) -> str:
    """Return the piece without the punctuation around it: paired marks, and marks that end a sentence."""
    token = token.rstrip(".:!?…。、")
    for opening, closing in _PAIRS:
        if len(token) > 2 and token.startswith(opening) and token.endswith(closing):
            token = token.strip(opening + closing).rstrip(".:!?…")
    return token


def _spellings(token: str) -> Iterable[str]:
    """Yield the piece as written, and without trailing characters that may be punctuation."""
    token = token[token.find("http") :] if token[:1] in "(['*`_\u2018" else token
    while token:
        yield token
        if token[-1] not in ".,;:!?)]}'*`_\u2019…":
            return
        token = token[:-1]


def _people(
    words: str, contacts: Mapping[str, tuple[str, ...]], country: str
) -> tuple[dict[Target, str], dict[str, int]]:
    """Return the addresses of the named people who have exactly one of a kind, and each named person's number of
    addresses.

    Of overlapping names, the longest counts.
    """
    text = " ".join(found[0].casefold() for found in _WORD.finditer(words))
    found: dict[Target, str] = {}
    there: dict[str, int] = {}
    for name in sorted(contacts, key=len, reverse=True):
        plain = " ".join(part[0].casefold() for part in _WORD.finditer(name))
        if len(plain) < 2 or f" {plain} " not in f" {text} ":
            continue
        text = f" {text} ".replace(f" {plain} ", " \0 ").strip()
        there[name] = len(contacts[name])
        targets = {target for address in contacts[name] if (target := recipient(address, country)) is not None}
        kinds = [target.kind for target in targets]
        found.update({target: name for target in targets if kinds.count(target.kind) == 1})
    return found, there
