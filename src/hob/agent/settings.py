"""Settings of turns, prompts and compaction: `[agent]`."""

from hob.core.settings import setting
from hob.core.translation.language import LANGUAGES, translatable
from hob.core.values import dataclass


def _zone_problem(name: str) -> str:
    if not name:
        return ""
    import zoneinfo  # 3 ms that a machine in its own time zone need not spend

    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return translatable(
            "no such time zone is known here; write an IANA name like Europe/Berlin (it may need tzdata)"
        )
    return ""


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """How a turn thinks: its limits in rounds, seconds, characters and tokens."""

    language: str = setting("en", "Language of Hob's own sentences.", one_of=LANGUAGES)
    max_rounds: int = setting(20, "Model calls one turn may make.", at_least=1, at_most=200)
    run_seconds: float = setting(1800.0, "Seconds a turn may run, waiting not counted.", at_least=1)
    idle_notice_seconds: float = setting(20.0, "Say so when the model sends nothing for this long.", at_least=0.1)
    idle_seconds: float = setting(120.0, "Give the model up when it sends nothing for this long.", at_least=0.1)
    patience_seconds: float = setting(8.0, "Seconds of retrying while a person waits.", at_least=0)
    background_patience_seconds: float = setting(60.0, "Seconds of retrying in the background.", at_least=0)
    wait_attempts: int = setting(8, "Times background work waits for a busy model before it gives up.", at_least=0)
    max_tokens: int = setting(4096, "Longest answer of the model, in tokens.", at_least=16)
    context_tokens: int = setting(128_000, "Most of a model's context window that is used, in tokens.", at_least=2_000)
    small_prompt_tokens: int = setting(
        3_000, "Longest prompt of a small model, in tokens.", at_least=1_500, at_most=32_000
    )
    small_tools: int = setting(5, "Tools that a small model is told of.", at_least=0, at_most=50)
    window: int = setting(20, "Messages of history that always stay in the prompt.", at_least=2, at_most=200)
    compact_above: int = setting(40, "Compact when more messages than this are shown.", at_least=4, at_most=1000)
    compact_at: float = setting(
        0.75, "Compact when the prompt fills this part of the context.", at_least=0.1, at_most=1
    )
    file_chars: int = setting(20_000, "Most characters of one identity file in the prompt.", at_least=100)
    files_chars: int = setting(60_000, "Most characters of all identity files in the prompt.", at_least=100)
    memory_chars: int = setting(4_000, "Most characters of recalled memories in the prompt.", at_least=0)
    recall_limit: int = setting(6, "Most memories recalled for one message.", at_least=0, at_most=50)
    taint_turns: int = setting(3, "Turns whose untrusted text stays whole in the prompt.", at_least=0)
    taint_minutes: float = setting(30.0, "Minutes after which untrusted text becomes a stub.", at_least=0)
    compact_tokens: int = setting(1_500, "Longest summary of a compaction, in tokens.", at_least=200)
    compact_patience_seconds: float = setting(60.0, "Seconds of retrying a compaction.", at_least=0)
    timezone: str = setting(
        "", "Time zone (IANA name) of clock, resets, budgets and backups; empty: the machine's.", problem=_zone_problem
    )
    loop_warning: int = setting(10, "Same call this often: warn the model.", at_least=2)
    loop_critical: int = setting(20, "Same call this often: refuse it.", at_least=3)
    loop_breaker: int = setting(30, "Calls without progress that end the turn.", at_least=4)
    parallel_tools: int = setting(4, "Calls that may run at once.", at_least=1, at_most=32)
    hook_seconds: float = setting(5.0, "Seconds a hook may take.", at_least=0.1)
    reset_idle_minutes: float = setting(
        0.0, "Begin a conversation afresh after this much silence; 0 never does.", at_least=0
    )
    reset_daily_hour: int = setting(
        -1, "Begin conversations afresh at this hour, local time; -1 never does.", at_least=-1, at_most=23
    )
