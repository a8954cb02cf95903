"""The running channels by name and account."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

from hob.core.messages import Address
from hob.core.ports.channel import Channel


class ChannelDirectory:
    """The running channels by name and account."""

    def __init__(self, channels: Iterable[Channel] = ()) -> None:
        self._running = {(channel.name, channel.account): channel for channel in channels}

    @contextmanager
    def running(self, channels: Iterable[Channel]) -> Iterator[None]:
        """Register these channels while the block is open."""
        here = {(channel.name, channel.account): channel for channel in channels}
        self._running |= here
        try:
            yield
        finally:
            for key in here:
                del self._running[key]

    @property
    def all(self) -> Mapping[tuple[str, str], Channel]:
        """Return all channels by name and account."""
        return self._running

    def find(self, address: Address) -> Channel | None:
        """Return the channel of this address, or None."""
        return self._running.get((address.channel, address.account))

    def serves_any(self, addresses: Collection[Address] | None) -> bool:
        """Whether a channel serves one of these addresses (None: any)."""
        return bool(self._running) if addresses is None else any(map(self.find, addresses))

    def limit_of(self, address: Address) -> int:
        """Return the maximum length of a message to this address; 0 if unknown."""
        channel = self.find(address)
        return 0 if channel is None else channel.text_limit
