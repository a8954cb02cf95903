"""Settings of queues and delivery: the longest text, how many may wait, turns at once, pauses between sends."""

from hob.core.settings import setting
from hob.core.values import dataclass

MODES = ("steer", "followup", "collect", "interrupt")
"""The values of `QueueMode`."""


@dataclass(frozen=True, slots=True)
class BusSettings:
    """How messages come in, wait, run and go out. Times are seconds."""

    max_text: int = setting(50_000, "Most characters one message may have.", at_least=1)
    session_waiting: int = setting(
        20, "Messages that may wait in one conversation.", at_least=1, formerly="lane_waiting"
    )
    sender_waiting: int = setting(40, "Messages of one sender that may wait.", at_least=1)
    total_waiting: int = setting(1_000, "Messages that may wait in all.", at_least=1)
    self_made_per_hour: int = setting(60, "Messages Hob may send itself in an hour.", at_least=0)
    max_hops: int = setting(5, "Self-made messages in a row after a person's.", at_least=0)
    slots: int = setting(8, "Turns that run at once.", at_least=1, at_most=256)
    queue_mode: str = setting(
        "steer",
        "What a message does that arrives while a turn of its conversation runs.",
        one_of=MODES,
    )
    queue_mode_by_channel: dict[str, str] = setting(
        {}, "Queue modes of single channels, by the channel's name.", one_of=MODES
    )
    debounce_seconds: float = setting(
        0.0, "Seconds to wait for more text before a turn begins; 0 waits for none.", at_least=0, at_most=60
    )
    debounce_by_channel: dict[str, float] = setting(
        {}, "Debounce of single channels, by the channel's name.", at_least=0, at_most=60
    )
    drain_seconds: float = setting(30.0, "Let running turns end for this long when stopping.", at_least=0)
    failure_seconds: float = setting(1.0, "First pause after a failed turn or write; it doubles each time.", at_least=0)
    failure_most_seconds: float = setting(60.0, "Longest such pause.", at_least=0)
    suspect_seconds: float = setting(
        60.0, "A turn that was running at a crash and now runs this long lets all others begin.", at_least=0
    )
    send_seconds: float = setting(60.0, "Seconds one send to a channel may take.", at_least=0.1)
    sends_at_once: int = setting(8, "Chats of one channel that are sent to at once.", at_least=1)
    send_attempts: int = setting(60, "Failed sends after which a message is given up.", at_least=1)
    send_pause_seconds: float = setting(1.0, "First pause after a failed send; it doubles each time.", at_least=0)
    send_pause_most_seconds: float = setting(1_800.0, "Longest pause between two sends.", at_least=0)

    def mode_of(self, channel: str) -> str:
        """The name of the queue mode of a channel's sessions where they have chosen none."""
        # Not the mode itself: every command loads the settings, and the words of turns would cost it 30 ms.
        return self.queue_mode_by_channel.get(channel, self.queue_mode)

    def debounce_of(self, channel: str) -> float:
        """Seconds for which a text of this channel waits for more."""
        return self.debounce_by_channel.get(channel, self.debounce_seconds)


@dataclass(frozen=True, slots=True)
class DeliverySettings:
    """What is sent to chats."""

    silent_mode: bool = setting(
        False, "Send nothing to chats: what would be sent is skipped, and stands in the dashboard alone.", stored=True
    )
    silent_channels: list[str] = setting([], "Be silent in these channels alone; empty: in all.", stored=True)
