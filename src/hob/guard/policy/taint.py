"""Tainted contexts: calls that could send data out, are irreversible or persist need the owner's approval.

The only exemption is that the owner's own words of this turn literally name the recipient, host or path. Nothing here
depends on what the model says, so it holds even if the model obeys an attacker.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_plus

from hob.core.ports.guard import Ask, Verdict
from hob.core.translation.language import translatable
from hob.guard.policy.addresses import host_of
from hob.guard.policy.call_analysis import ToolCallAnalysis, texts_in
from hob.guard.policy.context import Context
from hob.guard.policy.modes import Act
from hob.guard.policy.reasons import add_taint
from hob.guard.settings import PolicySettings

# Detection of repeated passages: a safety net against accidents, not a barrier, because text can always be rephrased.

_WORD = re.compile(r"\w+")
_RUN = 6  # consecutive words that cannot be a coincidence


def shares_passage(text: str, private: str) -> bool:
    """Return whether the texts share several consecutive words or a whole short private text, ignoring case and
    punctuation.
    """
    passages = _passages(private)
    return bool(passages) and not passages.isdisjoint(_runs(text, len(next(iter(passages)))))


@lru_cache(maxsize=64)
def _passages(private: str) -> frozenset[tuple[str, ...]]:
    words = len(_WORD.findall(private))
    return frozenset(_runs(private, min(_RUN, words))) if words >= 3 else frozenset()


def _runs(text: str, length: int) -> set[tuple[str, ...]]:
    words = [found.casefold() for found in _WORD.findall(text)]
    return {tuple(words[n : n + length]) for n in range(len(words) - length + 1)}


_MAX_HEARD = 3
_LINK = re.compile(
    r"https?://[^\s<>\"]+|(?<![@\w.-])(?:www\.[\w.-]+|(?:[a-z0-9-]+\.)+(?:com|net|org|io|co|de|at|ch|uk|eu|ru|cn|info|biz|"
    r"xyz|dev|app|me|ly|to|link|site|online|top|ai|page|shop|tech|cc|tk))(?![\w@])[^\s<>\"]*",
    re.IGNORECASE,
)
_ENCODED = re.compile(r"[A-Za-z0-9+/=_%-]{120,}")


def taint(analysis: ToolCallAnalysis, context: Context, policy: PolicySettings) -> Verdict | None:
    """Stage: return the first question, or None."""
    if context.tainted:
        return next(iter(_find_questions(analysis, context)), None)
    if context.written and may_send(analysis):
        said = "the command could send data out, and {files} may be of others: it was written after reading their words"
        return Ask("taint.written", translatable(said, files=", ".join(context.written)))
    return None


def may_send(analysis: ToolCallAnalysis) -> bool:
    """Return whether this is a command with network access, or a script in a browser."""
    return bool(analysis.commands or analysis.scripts) and not analysis.acts.isdisjoint({Act.ONLINE, Act.SEND})


def _find_questions(analysis: ToolCallAnalysis, context: Context) -> Iterable[Ask]:
    if Act.CONFIGURE in analysis.acts:
        does = translatable("it would {does}", does=analysis.does) if analysis.does else "it would change settings"
        yield Ask("taint.configure", _tainted(does, context))
    if Act.PERSIST in analysis.acts or (Act.WRITE in analysis.acts and analysis.invites_nobody):
        counts = translatable("it would count as your instruction in later conversations")
        yield Ask("taint.persists", _tainted(counts, context))
    if analysis.secret_files:
        holds = translatable("{path} usually holds keys", path=analysis.secret_files[0])
        yield Ask("taint.secrets", _tainted(holds, context))
    if Act.RISK in analysis.acts:
        yield Ask("taint.risk", _tainted(analysis.risk or "the command is a risky one", context))
    if Act.ONLINE in analysis.acts and not (analysis.hosts and context.reached.issuperset(analysis.hosts)):
        out = "the command could send data out" if analysis.commands else "what is written there leaves this machine"
        out = "the script could send data out" if any(analysis.scripts) else out
        yield Ask("taint.network", _tainted(out, context))
    if Act.FINAL in analysis.acts and not names_irreversible_targets(analysis, context):
        yield Ask("taint.final", _describe_unnamed(analysis))
    yield from _find_leaks(analysis, context)


def _find_leaks(analysis: ToolCallAnalysis, context: Context) -> Iterable[Ask]:
    if Act.FETCH in analysis.acts:
        if url := _unnamed_url(analysis, context):
            said = translatable("{url} is neither in your words nor in a search result", url=url)
            yield Ask("taint.url", said)
        elif why := _private_in_urls(analysis, context):
            said = translatable("the address would carry {what}, which your words did not ask for", what=why)
            yield Ask("taint.private", said)
    if analysis.acts <= {Act.READ, Act.WRITE, Act.FINAL} and (why := _private_in_arguments(analysis, context)):
        said = translatable("its server would be told {what}, which your words did not ask for", what=why)
        yield Ask("taint.private", said)
    if Act.SEND in analysis.acts:
        if not names_recipients(analysis, context):
            yield Ask("taint.sends", _unnamed_recipient(analysis))
        elif amount := next((each for each in analysis.amounts if not context.named.names_amount(each)), ""):
            does = analysis.does or "send"
            said = translatable("it would {does}, and your own words do not name {what}", does=does, what=amount)
            yield Ask("taint.amount", said)
        elif link := _unnamed_link(analysis.body, context):
            said = translatable("it would send the link {url}, which your words do not name", url=link)
            yield Ask("taint.link", said)
        elif why := private_in(analysis, context):
            said = translatable("it would send out {what}, which your words did not ask for", what=why)
            yield Ask("taint.private", said)


def _unnamed_recipient(analysis: ToolCallAnalysis) -> str:
    if analysis.does:
        return translatable("it would {does}, and your own words do not name where to", does=analysis.does)
    return "it could send data out, and your own words do not name where to"


def _describe_unnamed(analysis: ToolCallAnalysis) -> str:
    if analysis.does:
        return translatable(
            "it would {does}, which cannot be undone, and your own words do not name that", does=analysis.does
        )
    if analysis.paths:
        return "it cannot be undone, and your own words name no such file"
    return "it cannot be undone, and your own words do not name what it changes"


def _tainted(reason: str, context: Context) -> str:
    """Append to the reason what foreign text the turn has read, as far as known."""
    why = translatable("this conversation holds text that is not yours")
    if context.untrusted_sources:
        what = context.untrusted_sources[0]
        for other in context.untrusted_sources[1:_MAX_HEARD]:
            what = translatable("{one}, {other}", one=what, other=other)
        why = translatable("this conversation holds text that is not yours: {what}", what=what)
    return add_taint(reason, why)


def names_paths(analysis: ToolCallAnalysis, context: Context) -> bool:
    """Return whether the owner's words name every file that the call changes, and all these files are known."""
    return analysis.complete and bool(analysis.paths) and all(map(context.named.names_path, analysis.paths))


def names_irreversible_targets(analysis: ToolCallAnalysis, context: Context) -> bool:
    """Return whether the owner's words name everything that cannot be undone: the changed files, or the recipients."""
    if analysis.paths:
        return names_paths(analysis, context)
    if not analysis.things:
        return names_recipients(analysis, context) or _is_worded(analysis, context)
    sent = bool(analysis.recipients or analysis.sent_to or analysis.names)
    named = analysis.complete and all(map(context.named.names_thing, analysis.things))
    return named and (not sent or names_recipients(analysis, context))


def _is_worded(analysis: ToolCallAnalysis, context: Context) -> bool:
    """Return whether everything the call would write consists of the owner's words and has no recipient."""
    goes = analysis.recipients or analysis.sent_to or analysis.names or analysis.sources
    texts = (analysis.body, *analysis.plain)
    return analysis.complete and not goes and bool(analysis.body) and all(map(context.named.covers, texts))


def names_recipients(analysis: ToolCallAnalysis, context: Context) -> bool:
    """Return whether the owner's words name every recipient and host."""
    if not analysis.complete or analysis.hosts or analysis.online or analysis.commands:
        return False
    named, there = context.named, bool(analysis.recipients or analysis.sent_to or analysis.names)
    people = all(
        named.names_recipient(target, analysis.channel, context.channel)
        or named.names_person(name, analysis.channel, context.channel)
        for target, name in zip(analysis.recipients, analysis.people, strict=True)
    )
    people = people and all(map(named.names_thing, analysis.names))
    return (
        there
        and people
        and all(
            named.names_host(host_of(url)) or (url not in analysis.pages and named.names_url(url))
            for url in analysis.sent_to
        )
    )


def private_in(analysis: ToolCallAnalysis, context: Context) -> str:
    """Describe private content that the owner's words did not ask to send; "" if there is none."""
    for source in analysis.sources:
        if not context.named.names_path(source):
            return translatable("the file {path}", path=source)
    if analysis.secret_files:
        return translatable("the file {path}", path=analysis.secret_files[0])
    for thing in analysis.things:
        if not context.named.names_thing(thing):
            return translatable("the file {path}", path=thing)
    if not analysis.personal and all(map(context.named.covers, (analysis.body, *analysis.plain))):
        return ""
    for name in (name for each in context.private for name in each.names):
        if not (context.named.names_path(name) or context.named.names_thing(name)):
            return translatable("what was read from {path}", path=name)
    return private_text(analysis.body, analysis.personal, context)


def private_text(text: str, personal: Iterable[str], context: Context) -> str:
    """Describe private content in a text that leaves; "" if there is none."""
    said = context.named.words
    if any(value.casefold() not in said for value in personal):
        return "personal data"
    named = context.named
    unnamed = (
        each
        for each in context.private
        if not (each.names and all(named.names_path(name) or named.names_thing(name) for name in each.names))
    )
    if any(shares_passage(text, each.text) for each in unnamed):
        return "a passage of what you keep to yourself"
    return "something encoded" if _ENCODED.search(text) else ""


def _unnamed_link(text: str, context: Context) -> str:
    """Return a link in outgoing text that the owner's words do not contain; "" if there is none.

    Readers take the text for the owner's, so an attacker's links would be sent in the owner's name.
    """
    for found in _LINK.finditer(text):
        link = found[0].rstrip(".,;:!?)]}'\"")
        bare = link if "://" in link else f"http://{link}"
        if not (context.named.names_url(link) or link in context.searched or context.named.names_host(host_of(bare))):
            return link[:300]
    return ""


def _unnamed_url(analysis: ToolCallAnalysis, context: Context) -> str:
    """Return a URL that no trusted source gave; "" if all of them may be fetched."""
    if analysis.reading is not None and analysis.reading.searches and analysis.complete:
        return ""
    if not analysis.complete or not analysis.urls:
        return "the address"
    for url in analysis.urls:
        if not (context.named.names_url(url) or url in context.searched or context.named.names_host(host_of(url))):
            return url[:300]
    return ""


def _private_in_urls(analysis: ToolCallAnalysis, context: Context) -> str:
    """Describe private content in URLs of which only the host was named; "" if there is none."""
    made = [url for url in analysis.urls if not (context.named.names_url(url) or url in context.searched)]
    return _private_in_texts(map(unquote_plus, made), analysis, context)


def _private_in_arguments(analysis: ToolCallAnalysis, context: Context) -> str:
    """Describe private content in the arguments that a remote server would receive; "" if there is none."""
    if analysis.reading is None or not analysis.reading.remote:
        return ""
    asked = (text for name, value in analysis.arguments.items() for text in _free_texts(name, value, analysis))
    return _private_in_texts((text for text in asked if not context.named.covers(text)), analysis, context)


def _free_texts(name: str, value: Any, analysis: ToolCallAnalysis) -> Iterable[str]:
    """Yield the texts of an argument, except values that the schema enumerates."""
    declared = analysis.spec.schema.get("properties", {}).get(name)
    choices = declared.get("enum") if isinstance(declared, Mapping) else None
    return () if isinstance(choices, list) and value in choices else texts_in(value)


def _private_in_texts(texts: Iterable[str], analysis: ToolCallAnalysis, context: Context) -> str:
    """Describe private content that may be in texts the owner did not give; "" if there is none."""
    made = tuple(texts)
    if not made:
        return ""
    for each in context.private:
        if each.names:  # what was read may be in there in any disguise, even a few letters at a time
            return translatable("what was read from {path}", path=each.names[0])
    return private_text(" ".join(made), analysis.personal, context)
