"""`hob pairing`: who asks to be let in."""

from typing import Annotated

from cyclopts import App, Parameter

from hob.app.daemon.daemon_client import reach
from hob.cli.language import _
from hob.cli.output import line, paint, print_json, tame, when

app = App(name="pairing", help="Who asks to be let in.")

Code = Annotated[str, Parameter(help="The code that they were told.")]


@app.default
@app.command(name="list")
def list_(*, json: Annotated[bool, Parameter(help="As JSON.")] = False) -> None:
    """Who was told a code and waits."""

    seen = reach("GET", "/pairing")
    if json:
        print_json(seen)
        return
    for request in seen["requests"]:
        who = f"{line(request['address'], 60)}  {line(request['name'], 40)}".rstrip()
        until = _("until {time}").format(time=when(request["expires"]))
        print(f"{paint(request['code'], 'bold')}  {until}  {who}")
    if not seen["requests"]:
        print(_("No one is waiting."))


@app.command
def approve(
    code: Code,
    *,
    person: Annotated[str, Parameter(help="Whom they are: somebody known, or a new short name.")] = "",
    name: Annotated[str, Parameter(help="What they are called, if not as they call themselves.")] = "",
) -> None:
    """Let somebody in. Ask them for the code yourself: their name is only what they say."""

    fields = {"code": code, "person": person, "name": name}
    let_in = reach("POST", "/pairing/approve", fields)
    told = _("{person} ({sender}) may write now: {addresses}")
    addresses = tame(", ".join(let_in["addresses"]))
    print(told.format(person=tame(let_in["id"]), sender=let_in["class"], addresses=addresses))


@app.command
def deny(code: Code) -> None:
    """Turn somebody away; they get no further code. `hob people link` lets them in all the same."""

    denied = reach("POST", "/pairing/deny", {"code": code})
    print(_("{address} gets no further code").format(address=tame(denied["address"])))
