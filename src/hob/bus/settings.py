"""Settings of queues and delivery: the longest text, how many may wait, turns at once, pauses between sends."""

from hob.core.messages import INTERNAL_CHANNEL
from hob.core.settings import setting
from hob.core.values import dataclass

MODES = ("steer", "followup", "collect", "interrupt")
"""The values of `QueueMode`."""

REPORTS = "report"
"""The channel that delivers results to the session that assigned the work; simultaneous ones form one turn."""
SELF_MADE = frozenset({INTERNAL_CHANNEL, REPORTS})
"""Channels of Hob's messages to itself; the sender class was fixed when they were created."""
_TOGETHER_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class BusSettings:
    """Queues: how messages come in, wait, run and go out. Times are in seconds."""

    max_text: int = setting(50_000, "Maximum characters of one message.", at_least=1)
    session_waiting: int = setting(
        20, "Maximum messages waiting in one conversation.", at_least=1, formerly="lane_waiting"
    )
    sender_waiting: int = setting(40, "Maximum messages of one sender that are waiting.", at_least=1)
    total_waiting: int = setting(1_000, "Maximum waiting messages in total.", at_least=1)
    self_made_per_hour: int = setting(
        60, "Maximum messages per hour that Hob may write to itself, e.g. results of sub-agents.", at_least=0
    )
    max_hops: int = setting(
        5, "Maximum consecutive messages Hob writes to itself before a person has to write again.", at_least=0
    )
    slots: int = setting(8, "Maximum turns that run at once in all conversations together.", at_least=1, at_most=256)
    queue_mode: str = setting(
        "steer",
        "A message that comes while Hob answers: steer adds it to the running turn, followup answers it "
        "afterwards, collect answers all that waited together, interrupt stops the running turn.",
        one_of=MODES,
    )
    queue_mode_by_channel: dict[str, str] = setting(
        {}, "The same for single channels, by the channel's name.", one_of=MODES
    )
    debounce_seconds: float = setting(
        0.0, "Seconds to wait for more messages before a turn begins; 0: none.", at_least=0, at_most=60
    )
    debounce_by_channel: dict[str, float] = setting(
        {}, "The same for single channels, by the channel's name.", at_least=0, at_most=60
    )
    drain_seconds: float = setting(30.0, "Seconds that running turns have to finish when Hob stops.", at_least=0)
    failure_seconds: float = setting(1.0, "First pause after a failed turn or write; it doubles each time.", at_least=0)
    failure_most_seconds: float = setting(60.0, "Longest such pause.", at_least=0)
    suspect_seconds: float = setting(
        60.0,
        "After a crash, a turn that may have caused it runs alone for this long, then others start beside it.",
        at_least=0,
    )
    send_seconds: float = setting(60.0, "Maximum seconds one send to a channel may take.", at_least=0.1)
    sends_at_once: int = setting(8, "Maximum chats of one channel that are sent to at once.", at_least=1)
    send_attempts: int = setting(60, "Failed sends after which a message is given up; 60 is about a day.", at_least=1)
    send_pause_seconds: float = setting(1.0, "First pause after a failed send; it doubles each time.", at_least=0)
    send_pause_most_seconds: float = setting(1_800.0, "Longest pause between two sends.", at_least=0)

    def mode_of(self, channel: str) -> str:
        """Return the queue mode of a channel's sessions that have not chosen one."""
        # The name and not the enum: every command loads the settings, and importing the enum would cost it 30 ms.
        return "collect" if channel == REPORTS else self.queue_mode_by_channel.get(channel, self.queue_mode)

    def debounce_of(self, channel: str) -> float:
        """Return for how many seconds a text of this channel waits for more."""
        if channel == REPORTS:
            return _TOGETHER_SECONDS
        return self.debounce_by_channel.get(channel, self.debounce_seconds)


@dataclass(frozen=True, slots=True)
class DeliverySettings:
    """Sending to chats."""

    silent_mode: bool = setting(False, "Send nothing to chats; answers are then only in the dashboard.", stored=True)
    silent_channels: list[str] = setting([], "Channels to which this applies; not set: all.", stored=True)
