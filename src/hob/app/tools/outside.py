"""External services of the tools: channels, browsers, and vision and speech models."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from hob.agent.budget.budget import Budget
from hob.agent.budget.limits import SpendingSettings
from hob.agent.sessions import zone_of
from hob.agent.settings import AgentSettings
from hob.app.browser.port import PagePictures
from hob.app.kernel import CACHE, Kernel
from hob.app.models.catalog import ModelCatalog
from hob.app.tools.runtime import ExternalServices
from hob.bus.canvas import CanvasViewers
from hob.channels.webhooks.settings import WebhooksOut
from hob.core.content.capabilities import CLIENTS, Capabilities, ChatLine, get_capabilities
from hob.core.errors import SendFailed
from hob.core.ids import OutboxId
from hob.core.messages import LOCAL_CHANNEL, WEBHOOK_OUT_CHANNEL, Address, Outbound
from hob.core.translation.language import translatable
from hob.providers.catalog.prices import open_prices
from hob.providers.settings import ModelSettings
from hob.tools.messages.message import KnownChat, SentMessage


def open_outside(kernel: Kernel, viewers: CanvasViewers) -> ExternalServices:
    """Open the external services. Nothing connects before the first call; model calls are booked in the ledger."""
    config, agent = kernel.config, kernel.config[AgentSettings]
    models = config[ModelSettings]
    prices, _ = open_prices(models.prices, kernel.choice, config.home / CACHE, kernel.clock)
    limits, zone = config[SpendingSettings], zone_of(agent.timezone)
    budget = Budget(limits, kernel.store.ledger, prices, kernel.clock, agent.language, zone)
    catalog = ModelCatalog(models, kernel.choice, budget, kernel.clock)
    return ExternalServices(OwnMessages(kernel), catalog, viewers, catalog.aclose, kernel.port(PagePictures))


@runtime_checkable
class ReadsBack(Protocol):
    """A channel that can read the history of a chat."""

    async def read(self, chat: Address, limit: int) -> Sequence[ChatLine]:
        """Return the newest messages, oldest first. Raises SendFailed."""


class OwnMessages:
    """Implements the tool's `Messages` over a kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def chats(self) -> Sequence[KnownChat]:
        """Return all chats that may be written to."""
        return [*self._people(), *self._receivers()]

    def _people(self) -> Iterable[KnownChat]:
        for person in self._kernel.pairing_service.people:
            for address in person.addresses:
                for name, account in self._kernel.channels.all:
                    if name.casefold() == address.channel and address.account in ("", account):
                        yield KnownChat(person.name or person.id, Address(name, address.id, account), person.id)

    def _receivers(self) -> Iterable[KnownChat]:
        if (WEBHOOK_OUT_CHANNEL, "") in self._kernel.channels.all:
            for name in self._kernel.config[WebhooksOut]:
                yield KnownChat(name, Address(WEBHOOK_OUT_CHANNEL, name))

    def capabilities(self, to: Address) -> Capabilities | None:
        """Return the capabilities of a chat's channel."""
        channel = self._kernel.channels.find(to)
        return CLIENTS.get(to.channel) if channel is None else get_capabilities(channel)

    def limit_of(self, to: Address) -> int:
        """Return the maximum characters of a message there."""
        return self._kernel.channels.limit_of(to)

    async def enqueue(self, messages: Sequence[Outbound]) -> None:
        """Queue messages for delivery, each once."""
        await self._kernel.store.outbox.enqueue([self._with_paths(each) for each in messages])
        self._kernel.signals.outbox([each.to for each in messages])

    def _with_paths(self, message: Outbound) -> Outbound:
        """Return a message to the terminal with the paths of files that are only stored."""
        if message.to.channel != LOCAL_CHANNEL:
            return message
        blobs, files = self._kernel.store.blobs, message.attachments
        known = (each.link or (str(blobs.path_of(each.blob)) if each.blob else "") for each in files)
        return replace(message, attachments=tuple(map(lambda each, link: replace(each, link=link), files, known)))

    async def find(self, id: str) -> SentMessage | None:
        """Return a message sent with the tool or as a reply."""
        row = await self._kernel.store.outbox.find(OutboxId(id))
        return None if row is None else SentMessage(row.outbound.to, row.receipt, row.state)

    def can_read(self, to: Address) -> bool:
        """Return whether the channel can read the history of a chat."""
        return isinstance(self._kernel.channels.find(to), ReadsBack)

    async def read(self, to: Address, limit: int) -> Sequence[ChatLine]:
        """Read the history of a chat."""
        channel: object = self._kernel.channels.find(to)
        if not isinstance(channel, ReadsBack):
            raise SendFailed(translatable("{name} cannot tell what was said there", name=to.channel))
        return await channel.read(to, limit)
