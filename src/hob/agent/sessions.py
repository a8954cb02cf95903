"""Assignment of messages to sessions, and automatic resets of sessions.

Keys: `local:main` and `api:main` for clients that name no session, `local:NAME` and `api:NAME` for those that do,
`telegram:CHAT` for a chat with one person, `telegram:group:CHAT` for a group, followed by `:THREAD` for a platform's
thread and `/NAME` for a thread that a person named; `agent:main:subagent:ID` for a sub-agent, whose own ones add
`:subagent:ID`. A second account on a platform is `telegram@ACCOUNT`. Parts are percent-escaped, so no two conversations
share a key, and a key tells whether it is a group's.
"""

from datetime import datetime, timedelta, tzinfo

from hob.agent.settings import AgentSettings
from hob.core.ids import SessionKey, escape_key_part
from hob.core.messages import POLLED_CHANNELS, TOKEN_SENDER_PREFIX, Inbound
from hob.core.trust.labels import SenderClass
from hob.core.turns import Session

SUBAGENT_MARK = ":subagent:"
"""What the session keys of sub-agents contain, once for each level."""
_GROUP = "group"


def session_of(inbound: Inbound) -> SessionKey:
    """Return the session of the address a message came from."""
    origin = inbound.origin
    if origin.channel in POLLED_CHANNELS:
        return named_key(origin.channel, origin.chat or "main")
    head = escape_key_part(origin.channel) + (f"@{escape_key_part(origin.account)}" if origin.account else "")
    chat = escape_key_part(origin.chat)
    parts = [head, _GROUP, chat] if inbound.group else [head, "%67roup" if chat == _GROUP else chat]
    if origin.thread:
        parts.append(escape_key_part(origin.thread))
    return SessionKey(":".join(parts))


def named_key(channel: str, name: str) -> SessionKey:
    """Return the session a command or API call names: a full key as it is, a bare name within the channel."""
    return SessionKey(name if ":" in name else f"{channel}:{name}")


def thread_session(inbound: Inbound, name: str, base: SessionKey | None = None) -> SessionKey:
    """Return the named thread of a message's conversation; threads of a group stay within the group.

    Without a usable name it is the conversation itself. `base` is that conversation if it differs from the address's
    own.
    """
    channel = inbound.origin.channel
    others = inbound.sender.id.startswith(TOKEN_SENDER_PREFIX) and inbound.sender.cls is not SenderClass.OWNER
    owners = channel in POLLED_CHANNELS and not others
    base = base or session_of(inbound)
    name = "" if name == base else name.removeprefix(f"{channel}:" if owners else f"{base}/")  # keys, as users see them
    slug = "-".join("".join(char if char.isalnum() else " " for char in name.casefold()).split())[:40]
    if not slug:
        return base
    return named_key(channel, slug) if owners else SessionKey(f"{base}/{slug}")


def is_subagent(key: SessionKey) -> bool:
    """Whether the session belongs to a sub-agent."""
    return SUBAGENT_MARK in key


def is_group(key: SessionKey) -> bool:
    """Whether more than one person reads this session."""
    return key.split("/", 1)[0].split(":", 2)[1:2] == [_GROUP] and key.split(":", 1)[0] not in POLLED_CHANNELS


def can_reset(settings: AgentSettings) -> bool:
    """Whether sessions are ever reset automatically."""
    return settings.reset_idle_minutes > 0 or settings.reset_daily_hour >= 0


def reset_due(session: Session, now: datetime, settings: AgentSettings) -> str | None:
    """Return why the session is due for a reset before its next message, `idle` or `daily`, or None.

    `session.updated` is the time of its last use. A session without visible entries is never reset.
    """
    if session.updated <= 0 or session.entries <= session.since:
        return None
    idle = settings.reset_idle_minutes * 60
    if idle > 0 and now.timestamp() - session.updated >= idle:
        return "idle"
    hour = settings.reset_daily_hour
    if hour >= 0 and session.updated < _last_occurrence(hour, now, zone_of(settings.timezone)):
        return "daily"
    return None


def zone_of(name: str) -> tzinfo | None:
    """Return the time zone with this IANA name, already checked by the settings; None, the machine's zone, for ""."""
    if not name:
        return None
    import zoneinfo  # takes 3 ms, which a machine in its own time zone saves

    return zoneinfo.ZoneInfo(name)


def _last_occurrence(hour: int, now: datetime, timezone: tzinfo | None) -> float:
    """Return the last time the wall clock showed this hour, in Unix seconds.

    Days are calendar days. An hour that a clock change skips counts where it would have been; one that occurs twice
    counts the first time.
    """
    local = now.astimezone(timezone)
    for back in (0, 1):
        day = local - timedelta(days=back)
        wall = datetime(day.year, day.month, day.day, hour, tzinfo=timezone)  # None: the machine's
        if wall.timestamp() <= now.timestamp():
            return wall.timestamp()
    return wall.timestamp()
