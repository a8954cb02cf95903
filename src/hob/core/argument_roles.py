"""Roles of tool arguments: files, addresses, money, outgoing text, commands."""

from dataclasses import fields

from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class ArgumentRole:
    """Argument names of a tool, grouped by meaning.

    `paths` are files and folders, `sources` files whose content is sent by the call, `recipients` addresses of people
    (on the platform in the argument `channel`), `urls` are fetched, `sent_to` are web addresses that receive data,
    `pages` web pages that the call acts on, whose host must be named,
    `bodies` are outgoing texts, `inputs` are typed into `commands`, `hosts` are hosts a command may reach, `keys` are
    setting names, `patches` name the files they change, `scripts` run in the user's browser, and `plain` arguments have
    no effect.

    `names` are people, rooms or places as the tool's own service calls them; `amounts` are money; `things` are objects
    that the call changes or deletes, by name or number.

    `elements` refer to elements of the page that the tool showed last, with `[ref=e12]` in a line that describes each.

    `says` describes the call for people, with arguments in braces: "pay {amount} to {recipient}".

    `runs`: the call runs in Hob's sandbox. `joins`: its input goes to a command that is already running, with the
    network access of that command. `remote`: everything in it is sent to a server on another machine. `searches`: it
    contacts only the configured search provider. `configures`: it changes Hob's settings or hooks. `invites`: without
    recipients it reaches no one. `by_name`: recipients may be names of people the owner has admitted. `service_names`:
    recipients without digits or `@` are names, which the tool's own service resolves. `answers`: without recipients it
    writes in the turn's own chat.
    """

    paths: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()
    channel: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    sent_to: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
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
    elements: tuple[str, ...] = ()
    says: str = ""
    runs: bool = False
    joins: bool = False
    remote: bool = False
    searches: bool = False
    configures: bool = False
    invites: bool = False
    by_name: bool = False
    service_names: bool = False
    answers: bool = False

    def known(self) -> frozenset[str]:
        """Return the names of all arguments that have a role."""
        values = (getattr(self, each.name) for each in fields(self))
        return frozenset(name for value in values if isinstance(value, tuple) for name in value)
