"""Who else wants the home while an import has it."""

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from hob.app.daemon.unix_http import ConnectionLost, call
from hob.app.home import socket_of
from hob.app.imports.contents import SourceConversation
from hob.app.imports.conversations import import_conversations, plan_conversations
from hob.app.imports.plan import Item
from hob.gateway.imports import PastMessage
from tests.app.imports.conftest import User

MANY = 500_000


def importing_while(
    user: User, ask: Callable[[], Mapping[str, Any]], *, goes_on: bool = False
) -> tuple[list[Item], list[Mapping[str, Any]]]:
    """Import a conversation that ends as soon as somebody else has had an answer, unless it goes on."""
    answers: list[Mapping[str, Any]] = []
    asking = threading.Thread(target=lambda: answers.append(ask()))

    def talk() -> Iterator[PastMessage]:
        asking.start()
        for n in itertools.takewhile(lambda n: (goes_on or asking.is_alive()) and n < MANY, itertools.count(1)):
            yield PastMessage(str(n), "user", "x", float(n))

    planned = list(plan_conversations([SourceConversation("other:one", "a talk", talk)]))
    try:
        return import_conversations(user.state, planned, lambda *_: None, preview=False), answers
    finally:
        asking.join(30)


def test_other_commands_are_answered_during_an_import(user: User) -> None:
    (item,), answers = importing_while(user, lambda: call(socket_of(user.state), "GET", "/status", timeout=30).body)
    assert item.new < MANY
    assert [each["owed"] for each in answers] == [0]


def test_starting_daemon_takes_over_and_imported_messages_stay(user: User) -> None:
    def take_over() -> Mapping[str, Any]:
        return call(socket_of(user.state), "POST", "/hand-over", timeout=30).body

    with pytest.raises(ConnectionLost, match="took over; what was imported is kept"):
        importing_while(user, take_over, goes_on=True)
    assert 0 < len(user.history("other:one")) < MANY
