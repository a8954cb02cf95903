"""Allow and deny lists of tools: names, `*` patterns, and groups."""

import re
from collections.abc import Mapping
from functools import lru_cache

from hob.core.values import dataclass

GROUPS: Mapping[str, tuple[str, ...]] = {
    "files": ("read", "write", "edit", "apply_patch", "list_dir", "glob", "grep", "resolve_path"),
    "runtime": ("exec", "process", "code_execution"),
    "web": ("web_search", "web_fetch"),
    "memory": (
        "remember",
        "recall",
        "memory_*",
        "update_working_memory",
        "facts",
        "correct_fact",
        "*_goal",
        "get_goals",
    ),
    "sessions": ("sessions_*", "spawn*", "subagents"),
    "messaging": ("message*", "send_*", "mail_*", "conversations_*"),
    "automation": ("cron*", "schedule*", "remind*", "watch*", "calendar_*"),
    "configuration": ("config*", "gateway*", "skills*", "skill_*", "hooks*", "policy*"),
    "talk": ("ask_user", "report_progress", "load_tools"),
}
"""The tools of `group:NAME`; `group:all` is everything."""

PROFILES: Mapping[str, tuple[str, ...]] = {
    "minimal": ("group:talk", "recall"),
    "messaging": ("group:talk", "group:memory", "group:messaging", "group:sessions"),
    "coding": ("group:talk", "group:files", "group:runtime", "group:web", "group:memory", "group:sessions"),
    "full": (),
}
"""Named allow lists. An empty one allows everything."""

_GROUP = "group:"


@dataclass(frozen=True, slots=True)
class ToolList:
    """Tools that may be used (all, if `allow` is empty) and tools that may not, which take precedence."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def refuses(self, tool: str) -> str:
        """Return the entry that excludes this tool, `allow` if no entry lists it, or "" if it may be used."""
        for pattern in self.deny:
            if _matches(pattern, tool):
                return pattern
        if self.allow and not any(_matches(pattern, tool) for pattern in self.allow):
            return "allow"
        return ""


def group_of(entry: str) -> str:
    """Return the group that an entry stands for; "" if it is a tool name or pattern."""
    entry = entry.strip().casefold()
    return entry.removeprefix(_GROUP) if entry.startswith(_GROUP) else ""


@lru_cache(maxsize=4096)
def _matches(pattern: str, tool: str) -> bool:
    pattern, tool = pattern.strip().casefold(), tool.casefold()
    if name := group_of(pattern):
        return name == "all" or any(_matches(each, tool) for each in GROUPS.get(name, ()))
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), tool, re.DOTALL) is not None
