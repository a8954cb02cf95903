"""Everything that happens, in the order of the timeline, from any moment on."""

from dataclasses import dataclass

from hob.core.errors import NotFound
from hob.core.timeline import EventKind
from hob.gateway.http.fields import field
from hob.gateway.live.kinds import ClientWords
from hob.gateway.routes.views import event_view

PAGE = 50
"""Events read at once: so many are in memory for a client, however far behind it is."""


@dataclass(frozen=True, slots=True)
class Subscribing:
    """Which events are shown, from where on."""

    after: int | None = field("the cursor of the last event you have seen, 0 for all; without it those to come", None,
                              at_least=0)  # fmt: skip
    sessions: tuple[str, ...] = field("these sessions alone, by whole keys such as `api:main`", ())
    kinds: tuple[EventKind, ...] = field("these [kinds](timeline.md#kinds) alone", ())


async def subscribe(said: ClientWords[Subscribing]) -> None:
    """Show events, each with its cursor; a later `subscribe` takes the place of this one.

    Nothing is left out and nothing comes twice: go on with `after` the last cursor you have seen, on any connection,
    after a restart of Hob too. `caught_up` says that what was there already has been shown.
    """
    asked, timeline = said.asked, said.api.store.timeline
    newest = await timeline.newest()
    after = newest if asked.after is None else asked.after
    if after > newest:
        raise NotFound(f"there is no event {after} yet, the newest is {newest}; an older database may have come back")
    await said.say("subscribed", cursor=after)
    told = False
    with timeline.news() as news:
        while True:
            news.clear()  # before reading: what is committed from now on sets it again
            found = await timeline.follow(after, PAGE, sessions=asked.sessions, kinds=asked.kinds)
            for cursor, event in found.events:
                await said.say("event", cursor=cursor, event=event_view(event))
            after = found.upto
            if len(found.events) == PAGE:
                continue
            if not told:
                told = True
                await said.say("caught_up", cursor=after)
            await news.wait()
