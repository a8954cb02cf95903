"""The channels that run now, by name and account."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

from hob.core.messages import Address
from hob.core.ports.channel import Channel


class ChannelDirectory:
    """The channels that run now, each by its name and account."""

    def __init__(self, channels: Iterable[Channel] = ()) -> None:
        self._running = {(channel.name, channel.account): channel for channel in channels}

    @contextmanager
    def running(self, channels: Iterable[Channel]) -> Iterator[None]:
        """These run while the block is open."""
        here = {(channel.name, channel.account): channel for channel in channels}
        self._running |= here
        try:
            yield
        finally:
            for key in here:
                del self._running[key]

    @property
    def all(self) -> Mapping[tuple[str, str], Channel]:
        """Each by name and account."""
        return self._running

    def find(self, address: Address) -> Channel | None:
        """The channel that leads to this address."""
        return self._running.get((address.channel, address.account))

    def lead_to(self, addresses: Collection[Address] | None) -> bool:
        """Whether one of them leads to one of these addresses (None: to any)."""
        return bool(self._running) if addresses is None else any(map(self.find, addresses))

    def limit_of(self, address: Address) -> int:
        """The most characters one message to this address may have; 0 where that is not known."""
        channel = self.find(address)
        return 0 if channel is None else channel.text_limit
