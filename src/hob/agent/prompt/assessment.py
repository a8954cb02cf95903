"""The kind of work a message asks for, determined by rules, and the line that tells the model how to approach it.

Rules match whole words and beginnings of words (`secur…`), never parts inside: "key" does not match "monkey". The first
matching kind in the order below wins; a short message that matches none asks for a quick answer.
"""

import re
from collections.abc import Mapping
from enum import StrEnum


class WorkKind(StrEnum):
    """Kinds of work a message may ask for."""

    SECURITY = "security"
    BUG_FIX = "bug-fix"
    ARCHITECTURE = "architecture"
    CREATIVE = "creative"
    QUICK_ANSWER = "quick-answer"
    GENERAL = "general"


LINES: Mapping[WorkKind, str] = {
    WorkKind.SECURITY: "Security matters: say what could go wrong and how likely; keep secrets out of the answer.",
    WorkKind.BUG_FIX: "Find the cause before the cure: say what is known, what is a guess, and how to check it.",
    WorkKind.ARCHITECTURE: "Weigh options before choosing: what depends on what, what it costs, what comes first.",
    WorkKind.CREATIVE: "Offer several really different ideas before settling on one.",
    WorkKind.QUICK_ANSWER: "A short answer will do.",
    WorkKind.GENERAL: "",
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS: Mapping[WorkKind, frozenset[str]] = {
    WorkKind.SECURITY: _words(
        "password passwords passphrase credential credentials secret secrets auth oauth 2fa mfa tls ssh gpg cve xss "
        "csrf exploit malware phishing ransomware firewall kennwort kennwörter passwort passwörter geheimnis "
        "geheimnisse zugangsdaten sicherheitslücke schadsoftware"
    ),
    WorkKind.BUG_FIX: _words(
        "bug bugs fix fixes fixing broken crash crashes crashed crashing debug traceback stacktrace exception segfault "
        "error errors fails failing failed fehler fehlermeldung kaputt absturz abgestürzt stürzt repariere reparieren "
        "behebe beheben defekt"
    ),
    WorkKind.ARCHITECTURE: _words(
        "architecture architect refactor refactoring redesign migration migrate infrastructure microservice "
        "microservices schema roadmap architektur umbau umbauen migrieren infrastruktur systementwurf"
    ),
    WorkKind.CREATIVE: _words(
        "brainstorm brainstorming idea ideas creative imagine invent poem story slogan tagline idee ideen kreativ "
        "erfinde erfinden gedicht geschichte reime vorschläge"
    ),
}
_STARTS: Mapping[WorkKind, tuple[str, ...]] = {
    WorkKind.SECURITY: (
        "secur",
        "encrypt",
        "decrypt",
        "vulnerab",
        "authenti",
        "verschlüssel",
        "entschlüssel",
        "sicherheits",
    ),
    WorkKind.BUG_FIX: ("debugg", "fehlerbeh"),
    WorkKind.ARCHITECTURE: ("architektur", "restrukturier", "restructur"),
    WorkKind.CREATIVE: ("brainstorm", "kreativ"),
}
_WORD = re.compile(r"\w+")
_LOOKED_AT = 2_000  # characters; a message says at its beginning what it is about
_SHORT = 50


def assess(text: str) -> WorkKind:
    """Return the kind of work this text asks for; deterministic."""
    words = set(_WORD.findall(text[:_LOOKED_AT].lower()))
    for kind, known in _WORDS.items():
        starts = _STARTS[kind]
        if not words.isdisjoint(known) or any(word.startswith(starts) for word in words):
            return kind
    return WorkKind.QUICK_ANSWER if 0 < len(text.strip()) < _SHORT else WorkKind.GENERAL
