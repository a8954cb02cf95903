"""Settings of turns, compaction and prompts, with how much files and memories may take of them: `[agent]`."""

from hob.core.settings import setting
from hob.core.translation.language import LANGUAGES, translatable
from hob.core.values import dataclass


def _zone_problem(name: str) -> str:
    if not name:
        return ""
    import zoneinfo  # takes 3 ms, which a machine in its own time zone saves

    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return translatable(
            "no such time zone is known here; write an IANA name like Europe/Berlin (it may need tzdata)"
        )
    return ""


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """How a turn works (one message and its answer): limits in rounds, seconds, characters and tokens."""

    language: str = setting("en", "Language in which Hob itself speaks.", one_of=LANGUAGES)
    max_rounds: int = setting(20, "Maximum requests to the model in one turn.", at_least=1, at_most=200)
    run_seconds: float = setting(1800.0, "Maximum seconds a turn may run, not counting the time it waits.", at_least=1)
    idle_notice_seconds: float = setting(
        20.0, "Seconds without a word from the model after which Hob says so.", at_least=0.1
    )
    idle_seconds: float = setting(
        120.0, "Seconds without a word from the model after which Hob gives up waiting.", at_least=0.1
    )
    patience_seconds: float = setting(
        8.0, "Maximum seconds for which a failed request is retried while a person waits.", at_least=0
    )
    background_patience_seconds: float = setting(
        60.0, "Maximum seconds to retry a request of background work.", at_least=0
    )
    wait_attempts: int = setting(8, "How often background work waits for a busy model before it gives up.", at_least=0)
    max_tokens: int = setting(4096, "Longest answer of the model, in tokens.", at_least=16)
    context_tokens: int = setting(128_000, "Maximum tokens of a model's context window that are used.", at_least=2_000)
    small_prompt_tokens: int = setting(
        3_000, "Longest prompt of a small model, in tokens.", at_least=1_500, at_most=32_000
    )
    small_tools: int = setting(5, "Maximum number of tools a small model is offered.", at_least=0, at_most=50)
    window: int = setting(20, "Newest messages that always stay whole in the prompt.", at_least=2, at_most=200)
    compact_above: int = setting(
        40, "A conversation with more messages than this is summarised.", at_least=4, at_most=1000
    )
    compact_at: float = setting(
        0.75,
        "A conversation is summarised when the prompt fills this fraction of the context window.",
        at_least=0.1,
        at_most=1,
    )
    file_chars: int = setting(20_000, "Maximum characters of one workspace file in the prompt.", at_least=100)
    files_chars: int = setting(60_000, "Maximum characters of all workspace files in the prompt.", at_least=100)
    memory_chars: int = setting(4_000, "Maximum characters of memories in the prompt.", at_least=0)
    recall_limit: int = setting(6, "Maximum number of memories added to one message.", at_least=0, at_most=50)
    taint_turns: int = setting(
        3,
        "Turns for which text that others wrote stays in the prompt; while it stays, Hob is more careful.",
        at_least=0,
    )
    taint_minutes: float = setting(
        30.0,
        "Minutes for which text that others wrote stays in the prompt; afterwards a short note replaces it.",
        at_least=0,
    )
    compact_tokens: int = setting(1_500, "Longest summary of a conversation, in tokens.", at_least=200)
    compact_patience_seconds: float = setting(60.0, "Maximum seconds to retry summarising a conversation.", at_least=0)
    timezone: str = setting(
        "",
        "Time zone (e.g. Europe/Berlin) for the clock, resets, budgets, backups and the times that commands print; "
        "not set: the machine's.",
        problem=_zone_problem,
    )
    loop_warning: int = setting(
        10, "Number of identical calls in a turn after which the model is warned that it repeats itself.", at_least=2
    )
    loop_critical: int = setting(
        20, "Number of identical calls with the same result after which the call is refused.", at_least=3
    )
    loop_breaker: int = setting(
        30, "Number of consecutive calls without anything new after which the turn ends.", at_least=4
    )
    parallel_tools: int = setting(4, "Maximum tool calls that run at once.", at_least=1, at_most=32)
    hook_seconds: float = setting(5.0, "Maximum seconds a plug-in's hook may take.", at_least=0.1)
    reset_idle_minutes: float = setting(
        0.0, "Minutes of silence after which a conversation starts over; 0: never.", at_least=0
    )
    reset_daily_hour: int = setting(
        -1, "Hour of the day at which conversations start over; -1: never.", at_least=-1, at_most=23
    )
