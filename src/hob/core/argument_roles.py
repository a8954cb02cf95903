"""Roles of tool arguments: which are files, addresses, money, texts that leave, commands."""

from dataclasses import fields

from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class ArgumentRole:
    """The names of a tool's arguments by what they are.

    `paths` lie in the file tree, `sources` are files whose content leaves with the call, `recipients` are people's
    addresses (on the platform that the argument `channel` names), `urls` are fetched, `sent_to` are web addresses that
    something is sent to, `bodies` are texts that leave, `inputs` are typed into `commands`, `hosts` are what a command
    may reach, `keys` are names of settings, `patches` name the files they change; `scripts` run
    in the user's browser; `plain` lead nowhere.

    `names` are people, rooms or places that something goes to, as that tool's own service calls them; `amounts` are
    money; `things` are what it changes or deletes, by name or number.

    `says` is what a call does, for people, with arguments in braces: "pay {amount} to {recipient}".

    `runs`: it runs in Hob's sandbox. `joins`: what is written goes to a command that runs already, with the network
    that one was given. `remote`: all of it goes to a server that is not of this machine. `searches`: it asks the
    configured search provider only. `configures`: it changes Hob's settings or hooks. `invites`: without recipients
    it reaches no one. `by_name`: its recipients may be the names of people whom the owner let in.
    """

    paths: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()
    channel: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    sent_to: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    directory: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    amounts: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    says: str = ""
    runs: bool = False
    joins: bool = False
    remote: bool = False
    searches: bool = False
    configures: bool = False
    invites: bool = False
    by_name: bool = False

    def known(self) -> frozenset[str]:
        """Every argument it knows."""
        values = (getattr(self, each.name) for each in fields(self))
        return frozenset(name for value in values if isinstance(value, tuple) for name in value)
