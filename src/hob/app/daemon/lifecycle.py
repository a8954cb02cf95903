"""The run stage: recovery of earlier work, then delivery, channels and jobs."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from hob.app.contribution import Job
from hob.app.features import Features
from hob.app.kernel import Kernel
from hob.app.running_app import RunningServices
from hob.app.turn_services.turn_services import TurnServices
from hob.bus.bus import Bus, run_bus
from hob.bus.delivery import SkipsMessages
from hob.core.events.tracing import CONTENT_FREE
from hob.core.ports.accept import Accept
from hob.core.ports.channel import Channel

log = logging.getLogger(__name__)


@asynccontextmanager
async def run(kernel: Kernel, features: Features, services: TurnServices) -> AsyncIterator[tuple[Bus, RunningServices]]:
    """Run recovery, queue workers, delivery and channels, and unless one-shot, jobs and followers.

    On exit jobs stop, turns are put back, and replies are delivered before their channels close.
    """
    channels = tuple(channel for each in features for channel in each.channels)
    async with AsyncExitStack() as stack:
        stack.enter_context(kernel.channels.running(channels))
        if not kernel.one_shot:
            for follower in services.followers:
                await follower.begin()
        bus = await stack.enter_async_context(
            run_bus(
                kernel.session_queues,
                services.accept,
                turns=services.driver,
                commands=services.commands,
                channels=channels,
                on_sent=services.admission.note_sent,
                skips=features.port(SkipsMessages).skips,
            )
        )
        accept = features.wrapped(Accept, services.admission.entrance(bus.accept))
        running = RunningServices(accept, services.operations, kernel.session_queues, services.background)
        theirs = [each for part, had in features.opened.values() if part.plugin for each in had.channels]
        for channel in channels:
            if channel not in theirs:
                await stack.enter_async_context(channel.run(accept))
        kept = [Job(f"channel {each.name}", partial(_run_channel, each)) for each in theirs]
        await stack.enter_async_context(services.supervisor.keeping(kept, running))
        stack.push_async_callback(bus.drain, 0.0)
        for each in features:
            if each.on_settings is not None:
                stack.enter_context(kernel.signals.settings.subscribed(each.on_settings))
        if not kernel.one_shot:
            if kernel.store.unclean:
                log.warning("the last run was killed; its work continues", extra=CONTENT_FREE)
            services.prepare()
            jobs = [
                Job("approvals", lambda _: services.guard.watch()),
                Job("erasure", lambda _: features.erasure(kernel.store).finish()),
                Job("auth_failures", lambda _: services.attempts.run()),
                *(job for each in features for job in each.jobs),
                *(follower.job for follower in services.followers),
            ]
            await stack.enter_async_context(services.supervisor.keeping(jobs, running))
        yield bus, running


async def _run_channel(channel: Channel, running: RunningServices) -> None:
    """Run a plug-in's channel as a job, so that it is restarted if it fails."""
    async with channel.run(running.accept):
        await asyncio.Event().wait()
