"""Security checks of secrets, the API, and data sent to models."""

from ipaddress import ip_address

from hob.agent.budget.limits import SenderLimits, SpendingSettings
from hob.app.diagnostics.check import Check, Severity
from hob.app.diagnostics.checks.security.check import security_check
from hob.app.diagnostics.security_values import (
    SENSIBLE,
    SecurityFacts,
    when,
)
from hob.core.translation.language import translatable

_MIN_TOKEN = 24
_MIN_SIGNS = 10


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _is_everywhere(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return host in {"", "*"}


def _is_served(facts: SecurityFacts) -> bool:
    return facts.gateway.port >= 0


def _is_plain(facts: SecurityFacts) -> bool:
    return not (facts.gateway.tls_cert or _is_loopback(facts.gateway.host))


def _is_limited(limits: SpendingSettings | SenderLimits) -> bool:
    return limits.daily is not None or limits.monthly is not None


SECRETS: tuple[Check, ...] = (
    security_check(
        "gateway.bind_everywhere", Severity.CRITICAL, "the API listens on every network of this machine",
        "set gateway.host to 127.0.0.1, or to the address of a private network",
        lambda facts: when(_is_served(facts) and _is_everywhere(facts.gateway.host), facts.gateway.host),
    ),
    security_check(
        "gateway.bind_plain", Severity.WARN, "the API is reached from other machines without TLS: the token is seen",
        "set gateway.tls_cert; or put a proxy with TLS or a tunnel before it, and set gateway.host to 127.0.0.1",
        lambda facts: when(_is_served(facts) and _is_plain(facts), facts.gateway.host),
    ),
    security_check(
        "gateway.token_short", Severity.WARN,
        translatable("the API's token has fewer than {count} characters", count=_MIN_TOKEN),
        "unset gateway.auth_token, and Hob makes a good one",
        lambda facts: when(_is_served(facts) and facts.secrets.token_length < _MIN_TOKEN, "gateway.auth_token"),
    ),
    security_check(
        "gateway.token_plain", Severity.CRITICAL, "the API's token can be guessed",
        "unset gateway.auth_token, and Hob makes a good one",
        lambda facts: when(_is_served(facts) and facts.secrets.token_signs < _MIN_SIGNS, "gateway.auth_token"),
    ),
    security_check(
        "secrets.plain_in_config", Severity.WARN, "the secret is in plain text in the settings",
        "refer to it: env:NAME, file:PATH, keyring:SERVICE/USER or command:PROGRAM",
        lambda facts: facts.secrets.plain,
    ),
    security_check(
        "secrets.plain_in_headers", Severity.WARN, "a header that is a key is in plain text in the settings",
        "use api_key of the provider instead of headers", lambda facts: facts.secrets.in_headers,
    ),
    security_check(
        "secrets.not_maskable", Severity.WARN, "the secret is too short or too plain to be masked in texts",
        "use one of at least 16 random characters", lambda facts: facts.secrets.short,
    ),
    security_check(
        "secrets.unreadable", Severity.WARN, "the reference leads to no secret",
        "see `hob config check`, and set what it names", lambda facts: facts.secrets.unreadable,
    ),
    security_check(
        "secrets.reused", Severity.WARN, "the same secret has more than one use, so anyone who learns one learns both",
        "give each its own", lambda facts: [" = ".join(names) for names in facts.secrets.same],
    ),
    security_check(
        "model.key_in_environment", Severity.INFO, "the key is in the environment, where other programs see it",
        "keep it in `secrets` and refer to it with file:, or accept this",
        lambda facts: facts.secrets.in_environment,
    ),
    security_check(
        "model.plain_http", Severity.CRITICAL, "a model elsewhere is asked without TLS: anybody between can read",
        "use https://", lambda facts: facts.plain_http,
    ),
    security_check(
        "model.key_over_http", Severity.WARN, "a model's key goes through your network without TLS",
        "use https://, or a server that needs no key", lambda facts: facts.plain_key,
    ),
    security_check(
        "model.secrets_told", Severity.WARN, "keys and passwords in messages go to models as they are",
        "set prompt_guard.secrets to redact, local or block",
        lambda facts: when(facts.prompt_guard.secrets in {"off", "warn"}, facts.prompt_guard.secrets),
    ),
    security_check(
        "model.no_limit", Severity.INFO, "spending has no daily or monthly limit",
        "set spending.daily or spending.monthly", lambda facts: when(not _is_limited(facts.spending)),
    ),
    security_check(
        "limits.absurd", Severity.WARN, "the limit is so high that it stops nothing", "set it to what you would accept",
        lambda facts: [f"{key} = {value:g}" for key, value in facts.limits.items() if value > SENSIBLE[key]],
    ),
    security_check(
        "model.strangers_spend", Severity.WARN, "strangers may write, and nothing limits what they spend",
        "set spending.senders.stranger.daily",
        lambda facts: when(
            _strangers(facts) and not (_is_limited(facts.spending) or _is_limited(facts.spending.senders.stranger))
        ),
    ),
    security_check(
        "model.images_elsewhere", Severity.INFO, "a picture in an answer can leak what you said to any host",
        "if you read answers in a browser or a chat that loads pictures, set sanitizer.images = defuse: only their "
        "addresses are shown then",
        lambda facts: when(facts.sanitizer.images == "keep", "sanitizer.images = keep"),
    ),
)  # fmt: skip


def _strangers(facts: SecurityFacts) -> bool:
    admission = facts.admission
    each = (admission.dm_policy, *(channel.dm_policy for channel in admission.channels.values()))
    return "open" in each or admission.group_strangers or any(entry.endswith(":*") for entry in admission.allow)
