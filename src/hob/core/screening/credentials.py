"""Secrets: keys with a known prefix, key blocks, tokens, and values assigned to names such as `password`.

`lowered` is the text in lower case with all positions kept, see `hob.core.screening.detectors`. The formats are those
documented by the vendors, most of them collected at
https://docs.github.com/en/code-security/reference/secret-security/supported-secret-scanning-patterns
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from hob.core.screening.kinds import SensitiveFinding, SensitiveKind

_compiled = cache(re.compile)  # only a few are ever needed
_KEYS: tuple[tuple[tuple[str, ...], str], ...] = tuple(
    (tuple(beginnings.split()), r"(?<![^\W_])" + shape)
    for beginnings, shape in (
        ("sk-", r"sk-[A-Za-z0-9_-]{20,}"),  # OpenAI, Anthropic, OpenRouter, DeepSeek
        ("AKIA ASIA", r"A[KS]IA[A-Z2-7]{16}(?![A-Za-z0-9])"),
        ("ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,}"),
        ("github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
        ("glpat- glptt- gldt- glrt- glcbt- glft-", r"gl(?:pat|ptt|dt|rt|cbt|ft)-[A-Za-z0-9_-]{20,}"),
        ("xox", r"xox[abeprs][.-][A-Za-z0-9-]{10,}"),  # Slack
        ("xapp-", r"xapp-[0-9]-[A-Za-z0-9-]{20,}"),
        ("hooks.slack.com/services/", r"hooks\.slack\.com/services/T[A-Za-z0-9/]{20,}"),
        ("AIza", r"AIza[A-Za-z0-9_-]{35,}"),
        ("AQ.", r"AQ\.[A-Za-z0-9_-]{30,}"),  # Gemini, since 2026
        ("GOCSPX- ya29.", r"(?:GOCSPX-|ya29\.)[A-Za-z0-9_-]{24,}"),
        ("hf_", r"hf_[A-Za-z0-9]{30,}"),
        ("npm_", r"npm_[A-Za-z0-9]{36,}"),
        ("pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{40,}"),
        ("sk_live_ sk_test_ rk_live_ rk_test_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),  # Stripe
        ("whsec_", r"whsec_[A-Za-z0-9+/=]{20,}"),
        ("SG.", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{40,}"),  # SendGrid
        ("gsk_", r"gsk_[A-Za-z0-9]{40,}"),
        ("xai-", r"xai-[A-Za-z0-9]{60,}"),
        ("tvly-", r"tvly-[A-Za-z0-9_-]{20,}"),  # Tavily
        ("pplx-", r"pplx-[A-Za-z0-9]{40,}"),
        ("dop_v1_ doo_v1_", r"do[op]_v1_[a-f0-9]{64,}"),
        ("shpat_ shpss_ shppa_", r"shp(?:at|ss|pa)_[a-fA-F0-9]{32,}"),
        ("hvs.", r"hvs\.[A-Za-z0-9_-]{24,}"),  # HashiCorp Vault
        ("tskey-", r"tskey-[a-z]{2,10}-[A-Za-z0-9-]{16,}"),
        ("lin_api_ ntn_", r"(?:lin_api_|ntn_)[A-Za-z0-9]{36,}"),
    )
)
_TELEGRAM = re.compile(r"(?<![\w-])[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}")


def _matches(text: str, words: Iterable[str], pattern: str) -> Iterator[re.Match[str]]:
    """Yield matches that begin with one of these words; searching the word first is much faster than trying the
    pattern.
    """
    for word in words:
        at = text.find(word)
        while at >= 0:
            match = _compiled(pattern).match(text, at)
            if match:
                yield match
            at = text.find(word, match.end() if match else at + 1)


def find_api_keys(text: str) -> Iterator[SensitiveFinding]:
    """Find keys with a known vendor's prefix and a random remainder."""
    for beginnings, pattern in _KEYS:
        for match in _matches(text, beginnings, pattern):
            key = match.group().rstrip("-_./=")
            if pattern is _AWS or _is_random(key[-40:]):
                yield SensitiveFinding(SensitiveKind.API_KEY, match.start(), match.start() + len(key))
    if ":AA" in text:
        for match in _TELEGRAM.finditer(text):
            yield SensitiveFinding(SensitiveKind.API_KEY, match.start(), match.end())


_AWS = _KEYS[1][1]
_JWT = re.compile(r"(?<![\w.-])eyJ[A-Za-z0-9_.-]{30,}")


def find_jwts(text: str) -> Iterator[SensitiveFinding]:
    """Find signed or sealed tokens in compact form (RFC 7519): base64 JSON objects separated by dots."""
    if "eyJ" not in text:
        return
    for match in _JWT.finditer(text):
        token = match.group().rstrip(".-")
        parts = token.split(".")
        if len(parts) in (3, 5) and len(parts[0]) > 9 and (len(parts) == 5 or parts[1].startswith("eyJ")):
            yield SensitiveFinding(SensitiveKind.JWT, match.start(), match.start() + len(token))


_BLOCK = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_FOOT = re.compile(r"-----END [A-Z0-9 ]{1,60}-----")
_BODY = re.compile(r"[A-Za-z0-9+/=\s\\:,-]{30,}")  # with `\n` written out, as in JSON
_AGE = re.compile(r"(?<!\w)AGE-SECRET-KEY-[A-Z0-9-]{50,}")
_MAX_BODY = 20_000


def find_private_keys(text: str) -> Iterator[SensitiveFinding]:
    """Find OpenSSL, OpenSSH and PGP key blocks (RFC 7468, RFC 4880), whole or cut off, and age identities."""
    at = 0
    while "-----BEGIN" in text and (head := _BLOCK.search(text, at)):
        at = head.end()
        dashes = text.find("-----", at, at + _MAX_BODY)
        body = _BODY.match(text, at, dashes if dashes >= 0 else at + _MAX_BODY)
        if body:
            foot = _FOOT.match(text, dashes) if dashes >= 0 else None
            at = foot.end() if foot else at + len(body.group().rstrip())
            yield SensitiveFinding(SensitiveKind.PRIVATE_KEY, head.start(), at)
    if "AGE-SECRET-KEY-" in text:
        for match in _AGE.finditer(text):
            yield SensitiveFinding(SensitiveKind.PRIVATE_KEY, match.start(), match.end())


_BEARER = r"bearer[ \t]{1,4}[\"']?"
_BASIC = r"authorization\\?[\"']?[ \t]{0,4}+[:=][ \t]{0,4}+\\?[\"']?basic[ \t]{1,4}"
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{8,}")


def find_bearers(text: str, lowered: str) -> Iterator[SensitiveFinding]:
    """Find what follows `Bearer` or `Authorization: Basic` (RFC 6750, RFC 7617)."""
    for match in _matches(lowered, ("bearer",), _BEARER):
        token = _TOKEN.match(text, match.end())
        if token and len(token.group()) >= 16 and _is_random(token.group()):
            yield SensitiveFinding(SensitiveKind.BEARER, token.start(), token.end())
    for match in _matches(lowered, ("authorization",), _BASIC):
        token = _TOKEN.match(text, match.end())
        if token:
            yield SensitiveFinding(SensitiveKind.BEARER, token.start(), token.end())


# Assigned values. In JSON inside JSON a quote is preceded by a backslash.

_LOGIN = re.compile(r"://[^\s/:@\"'<>]{0,64}+:[^\s/@\"'<>]{3,200}+@")
_SIGN = r"(?:\\?[\"'`])?\s{0,3}+(?:=>|:=|==?|:)\s{0,3}+"
_NAMES = ("pass", "pwd", "pw:", "pw=", 'pw"', "kennwort")
_PASSWORD = r"(?:passwor[dt]|passwd|passphrase|kennwort|(?<![a-z])(?:pass|pwd|pw))" + _SIGN
_PROSE = (
    r"(?:passwor[dt]|passphrase|kennwort)[ \t]{1,3}(?:is|ist|lautet)(?: ?:)?[ \t]{1,3}"
    r"|(?<=-)(?:password|passwd|passphrase|pass)[ \t]{1,3}"
)
_SECRETS = ("secret", "token", "key", "auth", "credential")
_SECRET = r"(?<!public)(?<!public[_-])(?<!publickey)(?:secret|token|key|auth|credential)[a-z0-9_-]{0,30}+" + _SIGN
_VALUE = re.compile(r"[^\s<]{1,500}")
_RANDOM = re.compile(r"[A-Za-z0-9+/_.~-]{16,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$")
_QUOTES = "\"'`"
_FILLERS = """
    password passwort passwd changeme change_me secret none null true false required optional hidden undefined
    string text empty example placeholder redacted your_password yourpassword forgot reset
    """
_FILLER = frozenset(_FILLERS.split())
_EXPRESSION = re.compile(
    r"\$?[A-Za-z_.]{1,80}+[(\[]|[A-Za-z_]\w{0,60}+(?:\.[A-Za-z_]\w{0,60}+){1,8}+(?!\S)|\$\w{1,60}+(?!\S)"
)
_NEXT_FIELD = re.compile(r"&\w{1,40}=")


def find_passwords(text: str, lowered: str) -> Iterator[SensitiveFinding]:
    """Find values assigned to names such as `password`, command-line passwords, and passwords in URLs."""
    for pattern in (_PASSWORD, _PROSE):
        for match in _matches(lowered, _NAMES, pattern):
            sign = match.group().strip()[-1]
            start, end, quoted = _value(text, match.end())
            if _is_password(text[start:end], sign, quoted):
                yield SensitiveFinding(SensitiveKind.PASSWORD, start, end)
    if "://" in text and "@" in text:
        for match in _LOGIN.finditer(text):
            start = text.index(":", match.start() + 3) + 1
            if text[start] not in "[{$<*":
                yield SensitiveFinding(SensitiveKind.PASSWORD, start, match.end() - 1)


_PIN = re.compile(
    r"pin(?:[ -]?(?:code|number|nummer))?(?:[ \t]{0,3}+[:=]|[ \t]{1,3}+(?:is|ist|lautet) ?:?)[ \t]{0,3}+"
    r"(?P<value>[0-9]{4,8}+)(?![\w-]|[.,][0-9])"
)


def find_pins(text: str, lowered: str) -> Iterator[SensitiveFinding]:
    """Find four to eight digits described as a PIN."""
    at = lowered.find("pin")
    while at >= 0:
        match = _PIN.match(lowered, at) if at == 0 or not lowered[at - 1].isalnum() else None
        if match:
            yield SensitiveFinding(SensitiveKind.PASSWORD, *match.span("value"))
        at = lowered.find("pin", at + 1)


def find_secrets(text: str, lowered: str) -> Iterator[SensitiveFinding]:
    """Find random-looking values of names such as `token` and `api_key`."""
    for match in _matches(lowered, _SECRETS, _SECRET):
        at = match.end()
        at += text.startswith("\\", at)
        at += text[at : at + 1] in _QUOTES and at < len(text)
        value = _RANDOM.match(text, at)
        if value and _is_random(value.group()) and not _UUID.match(value.group()):
            end = value.end() + text.startswith("=", value.end())
            yield SensitiveFinding(SensitiveKind.SECRET, at, end + text.startswith("=", end))


def _value(text: str, at: int) -> tuple[int, int, bool]:
    """Return the start and end of the value without its quotes, and whether it was quoted."""
    at += text.startswith("\\", at)
    quote = text[at : at + 1]
    if quote and quote in _QUOTES:
        end = text.find(quote, at + 1, at + 500)
        if end >= 0 and "\n" not in text[at:end]:
            return at + 1, end - text.startswith("\\", end - 1), True
        at += 1
    word = _VALUE.match(text, at)
    if word is None:
        return at, at, False
    value = _NEXT_FIELD.split(word.group(), maxsplit=1)[0]
    return at, at + len(value.rstrip(".,;)]}>\\" + _QUOTES)), False


def _is_password(value: str, sign: str, quoted: bool) -> bool:
    """Whether the value may be a password rather than a label, type, variable or placeholder."""
    if len(value) < 4 or value.lower() in _FILLER or len(set(value)) < 3 or value[0] in "[{<*(":
        return False
    if value[:2] in ("${", "$(", "%(", "%s"):
        return False
    if _EXPRESSION.match(value) and not (quoted and "$" not in value[:1]):
        return False
    words = value.replace(" ", "")
    if words.isalpha():
        return " " not in value and len(value) >= 6 and (sign == "=" or (quoted and value.islower()))
    if quoted or sign == "=":
        return True
    return len(value) >= 6 and (words.isdecimal() or any(sign.isalpha() for sign in value)) and "://" not in value


def _is_random(value: str) -> bool:
    """Whether the value looks random: many different characters, with letters and digits alternating."""
    changes = digits = 0
    before = "-"
    for sign in value:
        digit = sign.isdigit()
        digits += digit
        if before.isalnum() and sign.isalnum():
            changes += before.isdigit() != digit or (before.islower() and sign.isupper())
        before = sign
    return digits > (len(value) < 32) and changes * 6 >= len(value) and len(set(value)) > 7
