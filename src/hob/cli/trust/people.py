"""`hob people`: people and their addresses."""

from typing import Annotated

from cyclopts import App, Parameter

from hob.app.daemon.daemon_client import reach
from hob.cli.output import class_word, line, print_table, printable, printed_json
from hob.cli.translating import _

app = App(name="people", help="List, link and forget people who talk to Hob.")

Address = Annotated[str, Parameter(help="channel:id, or channel@account:id, e.g. telegram:12345.")]
Id = Annotated[str, Parameter(help="Their short name; `owner` is you.")]


@app.default
@app.command(name="list")
def list_(*, json: Annotated[bool, Parameter(help="Print JSON.")] = False) -> None:
    """List the people you have linked and the holders of API tokens."""

    seen = reach("GET", "/people")
    if printed_json(seen, json):
        return
    print_table(
        (_("person"), _("class"), _("name and addresses")),
        [
            (
                (line(person["id"], 40), "bold"),
                class_word(person["class"]),
                "\n  ".join((line(person["name"], 60), *(line(each, 100) for each in person["addresses"]))),
            )
            for person in seen["people"]
        ],
        "",
    )
    if not any(person["addresses"] for person in seen["people"]):
        print(_("No address is linked; `hob people link channel:id owner` makes one yours."))


@app.command
def link(address: Address, person: Id, *, name: Annotated[str, Parameter(help="Their name.")] = "") -> None:
    """Link an address to a person. Be sure of it: `owner` may do everything."""

    fields = {"address": address, "person": person, "name": name}
    linked = reach("POST", "/people/link", fields)
    print(f"{printable(linked['id'])} ({class_word(linked['class'])}): {printable(', '.join(linked['addresses']))}")


@app.command
def unlink(address: Address) -> None:
    """Unlink an address: its messages then come from an unknown person."""

    done = reach("POST", "/people/unlink", {"address": address})
    print(_("{address} is not linked any more", address=printable(done["address"])))


@app.command
def forget(person: Id) -> None:
    """Remove a person with all addresses. Their messages stay in the conversations."""

    done = reach("POST", "/people/forget", {"person": person})
    print(_("{id} is forgotten", id=printable(done["id"])))
