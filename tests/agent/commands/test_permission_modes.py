"""`/permission` and `/autonomy`: what a session permits, and how much of it without asking."""

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from typing import cast

import pytest

from hob.agent.budget.budget import Budget
from hob.agent.budget.limits import SpendingSettings
from hob.agent.commands.permission_modes import PermissionLevel, PermissionModes
from hob.agent.commands.slash_commands import CommandOperations, SlashCommands
from hob.agent.settings import AgentSettings
from hob.core.ids import SessionKey
from hob.core.messages import TOKEN_SENDER_PREFIX, Inbound, Sender
from hob.core.trust.labels import HOB_LABEL, Label, Origin, SenderClass, Trust
from hob.core.trust.scopes import TokenScope
from hob.guard.approvals.answers import may_answer
from hob.guard.policy.modes import Autonomy, Mode
from hob.store.store import Store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store
from tests.agent.turn.test_driver import Known
from tests.agent.turn.test_model_call import Router
from tests.turns import SESSION

from .test_model_commands import Compactions

CONFIGURED = PermissionModes(PermissionLevel(tuple(Mode), "guarded"), PermissionLevel(tuple(Autonomy), "cautious"))
FULL = message("/permission full")
NOT_TYPED_ALONE = {
    "in a group": replace(FULL, group=True),
    "by Hob": replace(FULL, label=HOB_LABEL),
    "by something the owner let in": replace(FULL, label=Label(Origin.OWNER, Trust.UNTRUSTED)),
    "in a message Hob made": replace(FULL, hops=1),
    "by a schedule": replace(FULL, background=True),
}


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store() as opened:
        yield opened


def commands(store: Store, language: str = "en", permission_modes: PermissionModes = CONFIGURED) -> SlashCommands:
    operations, settings, clock = (
        cast("CommandOperations", Compactions()),
        AgentSettings(language=language),
        ManualClock(),
    )
    budget = Budget(SpendingSettings(), store.ledger, Known(), clock)
    return SlashCommands(operations, store.sessions, budget, clock, settings, lambda: "", Router(), permission_modes)


async def say(store: Store, text: str) -> str:
    return await commands(store).run(message(text), SESSION)


async def permission(store: Store, session: SessionKey = SESSION) -> str | None:
    return (await store.sessions.get(session)).permission


@pytest.mark.parametrize("mode", list(Mode))
async def test_permission_mode_of_a_session_is_chosen_and_shown(store: Store, mode: Mode) -> None:
    assert await say(store, f"/permission {mode.upper()}") == f"From now on this conversation permits: {mode}."
    assert await permission(store) == mode
    assert (await say(store, "/permission")).splitlines()[0] == f"This conversation permits: {mode}."
    said = await say(store, "/permission default")
    assert said == "From now on this conversation permits: guarded, as the settings say."
    assert await permission(store) is None


@pytest.mark.parametrize("level", list(Autonomy))
async def test_autonomy_is_chosen_and_shown(store: Store, level: Autonomy) -> None:
    said = await say(store, f"/autonomy {level.title()}")
    assert said == f"How much this conversation does without asking, from now on: {level}."
    assert (await store.sessions.get(SESSION)).autonomy == level
    assert f"without asking: {level}." in await say(store, "/autonomy")
    assert (await say(store, "/autonomy default")).endswith("from now on: cautious, as the settings say.")
    assert (await store.sessions.get(SESSION)).autonomy is None


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(("command", "words"), [("permission", tuple(Mode)), ("autonomy", tuple(Autonomy))])
async def test_every_level_of_the_guard_is_shown_with_its_meaning(
    store: Store, command: str, words: tuple[str, ...], language: str
) -> None:
    said = await commands(store, language).run(message(f"/{command}"), SESSION)
    lines = [line.split(maxsplit=1) for line in said.splitlines()[1:]]
    assert [line[0] for line in lines] == [*words, "default"]
    assert all(len(line) == 2 for line in lines)


def test_default_levels_are_the_guards() -> None:
    assert (PermissionModes().modes.words, PermissionModes().autonomies.words) == (tuple(Mode), tuple(Autonomy))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("/permission root", "There is no mode root; it stays: guarded, as the settings say."),
        ("/permission supervised", "There is no mode supervised; it stays: guarded, as the settings say."),
        ("/permission full please", "There is no mode full please; it stays: guarded, as the settings say."),
        ("/autonomy full", "There is no level full; it stays: cautious, as the settings say."),
    ],
)
async def test_unknown_level_changes_nothing_and_is_answered_with_the_valid_ones(
    store: Store, text: str, first: str
) -> None:
    said = (await say(store, text)).splitlines()
    assert said[0] == first
    assert said[-1].split() == ["default", *first.removesuffix(".").split("stays: ")[1].split()]
    found = await store.sessions.get(SESSION)
    assert (found.permission, found.autonomy) == (None, None)


async def test_level_the_guard_no_longer_knows_is_shown_unchanged(store: Store) -> None:
    await store.sessions.change(SESSION, permission="gone")
    assert (await say(store, "/permission")).splitlines()[0] == "This conversation permits: gone."


@pytest.mark.parametrize("inbound", NOT_TYPED_ALONE.values(), ids=NOT_TYPED_ALONE)
async def test_loosest_mode_requires_the_owner_to_type_it_in_a_private_chat(store: Store, inbound: Inbound) -> None:
    said = await commands(store).run(inbound, SESSION)
    assert said.startswith("Nothing changed: `/permission full` counts only where you type it yourself")
    assert await permission(store) is None
    await commands(store).run(replace(inbound, text="/permission read-only"), SESSION)
    assert await permission(store) == "read-only"


async def test_loosest_mode_cannot_be_set_for_a_group_session_from_elsewhere(store: Store) -> None:
    group = SessionKey("telegram:group:-100/garden")
    assert (await commands(store).run(FULL, group)).startswith("Nothing changed:")
    assert await permission(store, group) is None


@pytest.mark.parametrize("cls", [SenderClass.MEMBER, SenderClass.STRANGER])
@pytest.mark.parametrize("text", ["/permission", "/permission read-only", "/autonomy", "/autonomy supervised"])
async def test_only_the_owner_sees_or_changes_permission_and_autonomy(
    store: Store, cls: SenderClass, text: str
) -> None:
    inbound = replace(message(text), sender=Sender("bob", cls=cls))
    assert await commands(store).run(inbound, SESSION) == "Only the owner may do that."
    found = await store.sessions.get(SESSION)
    assert (found.permission, found.autonomy) == (None, None)


async def test_unknown_configured_level_is_not_named(store: Store) -> None:
    said = await commands(store, permission_modes=PermissionModes()).run(message("/permission"), SESSION)
    assert said.splitlines()[0] == "This conversation permits: as the settings say."


LOOSER = ["/permission workspace", "/permission full", "/autonomy autonomous"]
NOT_LOOSER = [
    "/permission",
    "/permission read-only",
    "/permission guarded",
    "/autonomy supervised",
    "/autonomy default",
]


def by_token(text: str, *scopes: TokenScope) -> Inbound:
    return replace(message(text, channel="api"), scopes=frozenset(scopes))


@pytest.mark.parametrize("text", LOOSER)
async def test_token_without_approve_scope_cannot_loosen(store: Store, text: str) -> None:
    for inbound in (
        by_token(text, TokenScope.CHAT, TokenScope.READ),
        message(text, sender=f"{TOKEN_SENDER_PREFIX}phone"),
    ):
        assert "needs the scope `approve`" in await commands(store).run(inbound, SESSION)
    found = await store.sessions.get(SESSION)
    assert (found.permission, found.autonomy) == (None, None)


@pytest.mark.parametrize("text", [*LOOSER, *NOT_LOOSER])
async def test_token_with_approve_scope_may_loosen(store: Store, text: str) -> None:
    assert "scope" not in await commands(store).run(by_token(text, TokenScope.CHAT, TokenScope.APPROVE), SESSION)


@pytest.mark.parametrize("text", NOT_LOOSER)
async def test_any_token_may_read_and_tighten(store: Store, text: str) -> None:
    assert "scope" not in await commands(store).run(by_token(text, TokenScope.CHAT), SESSION)


async def test_tightened_permission_is_not_loosened_by_choosing_default(store: Store) -> None:
    await say(store, "/permission read-only")
    assert "needs the scope" in await commands(store).run(by_token("/permission default", TokenScope.CHAT), SESSION)
    assert await permission(store) == "read-only"


async def test_only_who_may_answer_for_approval_may_loosen(store: Store) -> None:
    """Where the owner's name can be forged, nobody may have Hob stop asking either."""
    proven = replace(CONFIGURED, objection=partial(may_answer, further=["memory"]))
    for text in LOOSER:
        said = await commands(store, permission_modes=proven).run(message(text, channel="irc"), SESSION)
        assert "irc does not prove who writes" in said or "type it yourself" in said
        assert "irc" not in await commands(store, permission_modes=proven).run(message(text), SESSION)
        await store.sessions.change(SESSION, permission=None, autonomy=None)
    for text in NOT_LOOSER:
        assert "prove" not in await commands(store, permission_modes=proven).run(message(text, channel="irc"), SESSION)
        await store.sessions.change(SESSION, permission=None, autonomy=None)
