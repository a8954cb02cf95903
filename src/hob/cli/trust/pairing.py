"""`hob pairing`: people who ask to be let in."""

from typing import Annotated

from cyclopts import App, Parameter

from hob.app.daemon.daemon_client import reach
from hob.cli.dates_and_figures import when
from hob.cli.output import class_word, line, print_table, printable, printed_json
from hob.cli.translating import _

app = App(name="pairing", help="Let new people write to Hob, or refuse them.")

Code = Annotated[str, Parameter(help="The code that they received.")]


@app.default
@app.command(name="list")
def list_(*, json: Annotated[bool, Parameter(help="Print JSON.")] = False) -> None:
    """List people who wait with a pairing code."""

    seen = reach("GET", "/pairing")
    if printed_json(seen, json):
        return
    print_table(
        (_("code"), _("valid until"), _("address"), _("name")),
        [
            (
                (request["code"], "bold"),
                when(request["expires"]),
                line(request["address"], 60),
                line(request["name"], 40),
            )
            for request in seen["requests"]
        ],
        _("No one is waiting."),
    )


@app.command
def approve(
    code: Code,
    *,
    person: Annotated[str, Parameter(help="The person: a known one, or a new short name.")] = "",
    name: Annotated[str, Parameter(help="Their name, if it differs from the one they gave.")] = "",
) -> None:
    """Let a person in. Ask them for the code yourself; anyone can claim a name."""

    fields = {"code": code, "person": person, "name": name}
    let_in = reach("POST", "/pairing/approve", fields)
    print(
        _(
            "{person} ({sender}) may write now: {addresses}",
            person=printable(let_in["id"]),
            sender=class_word(let_in["class"]),
            addresses=printable(", ".join(let_in["addresses"])),
        )
    )


@app.command
def deny(code: Code) -> None:
    """Refuse a person; they get no further code. `hob people link` can still let them in."""

    denied = reach("POST", "/pairing/deny", {"code": code})
    print(_("{address} gets no further code", address=printable(denied["address"])))
