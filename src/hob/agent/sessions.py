"""Which conversation a message belongs to, and when a conversation begins afresh.

Keys: `local:main` and `api:main` for those who name no session, `local:NAME` and `api:NAME` for those who do,
`telegram:CHAT` for a chat with one person, `telegram:group:CHAT` for a group, `:THREAD` behind either for a platform's
thread, `/NAME` behind all of it for a thread that a person named, `subagent:ID` for work that Hob gave itself. A second
account on a platform is `telegram@ACCOUNT`. Parts are percent-escaped, so no two conversations share a key, and whether
a key is a group's can be read off it.
"""

from datetime import datetime, timedelta, tzinfo

from hob.agent.settings import AgentSettings
from hob.core.ids import SessionKey, escaped
from hob.core.messages import FETCHED_CHANNELS, TOKEN_SENDER, Inbound
from hob.core.trust.labels import SenderClass
from hob.core.turns import Session

_SUBAGENT = "subagent"
_GROUP = "group"


def session_of(inbound: Inbound) -> SessionKey:
    """The conversation of the address a message came from."""
    origin = inbound.origin
    if origin.channel in FETCHED_CHANNELS:
        return named_key(origin.channel, origin.chat or "main")
    head = escaped(origin.channel) + (f"@{escaped(origin.account)}" if origin.account else "")
    chat = escaped(origin.chat)
    parts = [head, _GROUP, chat] if inbound.group else [head, "%67roup" if chat == _GROUP else chat]
    if origin.thread:
        parts.append(escaped(origin.thread))
    return SessionKey(":".join(parts))


def named_key(channel: str, name: str) -> SessionKey:
    """The session that a command or API call names: a whole key is taken as it is, a bare name is the channel's."""
    return SessionKey(name if ":" in name else f"{channel}:{name}")


def thread_session(inbound: Inbound, name: str, base: SessionKey | None = None) -> SessionKey:
    """The thread of this name beside the conversation a message came from; a group's threads stay the group's.

    No usable name is the conversation itself. `base` is that conversation where it is not the address's own.
    """
    channel = inbound.origin.channel
    others = inbound.sender.id.startswith(TOKEN_SENDER) and inbound.sender.cls is not SenderClass.OWNER
    owners = channel in FETCHED_CHANNELS and not others
    base = base or session_of(inbound)
    name = "" if name == base else name.removeprefix(f"{channel}:" if owners else f"{base}/")  # keys, as they are told
    slug = "-".join("".join(char if char.isalnum() else " " for char in name.casefold()).split())[:40]
    if not slug:
        return base
    return named_key(channel, slug) if owners else SessionKey(f"{base}/{slug}")


def is_subagent(key: SessionKey) -> bool:
    """Whether the session is a sub-agent's."""
    return key.startswith(_SUBAGENT + ":")


def is_group(key: SessionKey) -> bool:
    """Whether others than one person read in this session."""
    return key.split("/", 1)[0].split(":", 2)[1:2] == [_GROUP] and key.split(":", 1)[0] not in FETCHED_CHANNELS


def resets(settings: AgentSettings) -> bool:
    """Whether sessions ever begin afresh by themselves."""
    return settings.reset_idle_minutes > 0 or settings.reset_daily_hour >= 0


def reset_due(session: Session, now: datetime, settings: AgentSettings) -> str | None:
    """Why the session should begin afresh before its next message: `idle`, `daily`, or None.

    `session.updated` is when it was last used. A session is never reset that has nothing to forget.
    """
    if session.updated <= 0 or session.entries <= session.since:
        return None
    idle = settings.reset_idle_minutes * 60
    if idle > 0 and now.timestamp() - session.updated >= idle:
        return "idle"
    hour = settings.reset_daily_hour
    if hour >= 0 and session.updated < _last_time(hour, now, zone_of(settings.timezone)):
        return "daily"
    return None


def zone_of(name: str) -> tzinfo | None:
    """The time zone of this IANA name, which the settings have checked; None, the machine's own, for an empty one."""
    if not name:
        return None
    import zoneinfo  # 3 ms that a machine in its own time zone need not spend

    return zoneinfo.ZoneInfo(name)


def _last_time(hour: int, now: datetime, timezone: tzinfo | None) -> float:
    """When it was last this hour on the wall, in Unix seconds.

    Days are counted on the calendar, not in seconds. An hour that a change of clocks skips counts where it would have
    been, one that comes twice counts the first time.
    """
    local = now.astimezone(timezone)
    for back in (0, 1):
        day = local - timedelta(days=back)
        wall = datetime(day.year, day.month, day.day, hour, tzinfo=timezone)  # None: the machine's
        if wall.timestamp() <= now.timestamp():
            return wall.timestamp()
    return wall.timestamp()
