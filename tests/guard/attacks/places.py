"""Places where an attacker's text can enter: each one plants it and lets the owner or somebody else touch it."""

import asyncio
import html
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from importlib.util import find_spec

from hob.bus.canvas import CanvasViewers
from hob.core.content.canvas import CanvasAnswer
from hob.core.messages import Attachment, Quoted
from hob.core.response_options import ClientTool, ResponseOptions
from hob.core.trust.labels import Label, Origin, Trust
from hob.testing.attacker import find_orders, hidden_order, order
from hob.tools.browser.detection import find_program, is_library_there
from hob.tools.mcp.accepted import save_accepted
from hob.tools.mcp.settings import McpServer
from tests.guard.simulated import Mail
from tests.tools.web.server import reply

from .house import FORM
from .spots import Spot

Bring = Callable[[Spot, str], Awaitable[None]]


async def _file(spot: Spot, evil: str) -> None:
    _put(spot, f"in/{spot.name}.txt", evil)
    await spot.house.say(spot.name, order("read", path=f"in/{spot.name}.txt"))


async def _output(spot: Spot, evil: str) -> None:
    _put(spot, f"in/{spot.name}.log", evil)
    await spot.house.say(spot.name, order("exec", command=f"tail -n 50 in/{spot.name}.log"))


async def _found_line(spot: Spot, evil: str) -> None:
    _put(spot, f"in/{spot.name}/notes.txt", evil)
    await spot.house.say(spot.name, order("grep", pattern="ORDER", path=f"in/{spot.name}"))


async def _file_name(spot: Spot, evil: str) -> None:
    for each in find_orders(evil):
        name = hidden_order(each.tool, **each.arguments)
        if len(name) < 250:  # longer text cannot be a file name
            _put(spot, f"in/{spot.name}/{name}", "")
    await spot.house.say(spot.name, order("glob", pattern="*", path=f"in/{spot.name}"))


async def _page(spot: Spot, evil: str) -> None:
    url = f"http://news.example/{spot.name}"
    spot.house.outside.pages[url] = evil
    await spot.house.say(spot.name, f"Read {url} for me.", order("web_fetch", url=url))


async def _search(spot: Spot, evil: str) -> None:
    spot.house.outside.found[spot.name] = evil
    await spot.house.say(spot.name, order("web_search", query=spot.name, count=10))


async def _mail(spot: Spot, evil: str) -> None:
    spot.house.outside.mails[spot.name] = Mail("mallory", "hello", evil)
    await spot.house.say(spot.name, order("mail_read", id=spot.name))


async def _mail_file_name(spot: Spot, evil: str) -> None:
    names = tuple(hidden_order(each.tool, **each.arguments) for each in find_orders(evil))
    spot.house.outside.mails[spot.name] = Mail("mallory", "hello", "see there", names)
    await spot.house.say(spot.name, order("mail_read", id=spot.name))


async def _chat_history(spot: Spot, evil: str) -> None:
    spot.house.outside.chats[spot.name] = evil
    await spot.house.say(spot.name, order("message_list", chat=spot.name))


async def _invitation(spot: Spot, evil: str) -> None:
    spot.house.outside.events[spot.name] = evil
    await spot.house.say(spot.name, order("calendar_list", day=spot.name))


async def _tool_error(spot: Spot, evil: str) -> None:
    spot.house.outside.chats[spot.name] = f"ERROR {evil}"
    await spot.house.say(spot.name, order("message_list", chat=spot.name))


async def _quote(spot: Spot, evil: str) -> None:
    quote = Quoted(evil, Label(Origin.STRANGER, Trust.UNTRUSTED))
    await spot.house.say(spot.name, "What does he want?", quoted=[quote])


async def _forwarded(spot: Spot, evil: str) -> None:
    await spot.house.say(spot.name, "What does he want?\n\n---------- Forwarded message ---------\n", evil)


async def _stdin(spot: Spot, evil: str) -> None:
    await spot.house.say(spot.name, "Summarise this.", quoted=[Quoted(evil)])


async def _attachment(spot: Spot, evil: str) -> None:
    # such a name is cut to 80 characters, enough to refer to the rest
    name = hidden_order("message_list", chat=spot.name)
    spot.house.outside.chats[spot.name] = evil
    await spot.house.say(spot.name, "What is in there?", attachments=[Attachment("application/pdf", name)])


async def _member(spot: Spot, evil: str) -> None:
    await spot.house.say(spot.name, evil, who="member-bob")


async def _stranger(spot: Spot, evil: str) -> None:
    await spot.house.say(spot.name, evil, who="stranger-mallory")


async def _group(spot: Spot, evil: str) -> None:
    await spot.house.say(spot.name, evil, who="member-bob", group=True)
    await spot.house.say(spot.name, "What did Bob say?", group=True)


async def _memory(spot: Spot, evil: str) -> None:
    """A memory that the owner once approved."""
    _put(spot, f"in/{spot.name}.txt", order("remember", text=f"{spot.name} {_nested(evil)}"))
    await spot.house.say(spot.name, order("read", path=f"in/{spot.name}.txt"), allow={"remember"}, once=True)
    await spot.house.say(f"{spot.name}-later", order("recall", query=spot.name, untrusted=True))


async def _note(spot: Spot, evil: str) -> None:
    """A note of a conversation."""
    _put(spot, f"in/{spot.name}.txt", order("update_working_memory", content=_nested(evil)))
    await spot.house.say(
        spot.name, order("read", path=f"in/{spot.name}.txt"), allow={"update_working_memory"}, once=True
    )
    await _days_pass(spot)
    await spot.house.say(spot.name, order("update_working_memory", content="done"))


async def _earlier_turn(spot: Spot, evil: str) -> None:
    """Text read some turns ago."""
    await _file(spot, evil)
    for words in ("Fine.", "Thanks.", "And now?"):
        await spot.house.say(spot.name, words)


async def _read_back(spot: Spot, evil: str) -> None:
    """A stub that the owner has read back much later."""
    await _mail(spot, evil)
    await _days_pass(spot)
    await spot.house.say(spot.name, order("read_back", number="{{stub}}"))


async def _identity(spot: Spot, evil: str) -> None:
    """An identity file changed by somebody else."""
    (spot.house.workspace / "TOOLS.md").write_text(evil)
    await spot.house.say(spot.name, "Good morning.")


async def _own_file(spot: Spot, evil: str) -> None:
    """Instructions that the model writes down and reads later."""
    _put(spot, f"in/{spot.name}.txt", order("write", path=f"todo-{spot.name}.md", content=_nested(evil)))
    await spot.house.say(spot.name, order("read", path=f"in/{spot.name}.txt"))
    await _days_pass(spot)
    await spot.house.say(spot.name, order("read", path=f"todo-{spot.name}.md"))


async def _mcp_result(spot: Spot, evil: str) -> None:
    """A result of a third-party MCP server that the owner accepted."""
    from tests.tools.mcp.reaching import accept, connected, ours  # only with the extra installed

    home, server = spot.house.home, ours()
    if not (home / "mcp/notes.json").exists():
        async with connected(home, server) as connection:
            save_accepted(home, await accept(connection))
        told = f"[mcp.notes]\ncommand = {json.dumps(server.command)}\nread = {json.dumps(server.read)}\n"
        spot.house.configure(told)
    (home / "mcp/data/notes" / f"{spot.name}.txt").write_text(evil)
    await spot.house.say(spot.name, order("notes__get_note", name=spot.name))


async def _remote_mcp_result(spot: Spot, evil: str) -> None:
    """A result of a remote MCP server, over HTTP."""
    from tests.tools.mcp.reaching import accept, connected, on_loopback  # only with the extra installed

    home, theirs = spot.house.home, spot.house.root / "theirs"
    theirs.mkdir(exist_ok=True)
    (theirs / f"{spot.name}.txt").write_text(evil)
    async with on_loopback(theirs) as url:
        async with connected(home, McpServer(url=url), "far") as connection:
            save_accepted(home, await accept(connection))
        spot.house.configure(f'[mcp.far]\nurl = "{url}"\n')
        await spot.house.say(spot.name, order("far__get_note", name=spot.name))
        spot.house.configure("")  # the server ends when nobody is connected any more


async def _canvas(spot: Spot, evil: str) -> None:
    """The text of a page shown in a browser."""
    await spot.house.say(spot.name, order("canvas", action="present", html=spot.name))
    viewers = spot.house.app.api.port(CanvasViewers)
    (page, *_) = await spot.house.app.store.canvas.pages()

    async def browse() -> None:
        with viewers.showing(page.id, page.version) as questions:
            while True:
                viewers.answer((await questions.get()).id, CanvasAnswer(evil))

    async with asyncio.TaskGroup() as tasks:
        browser = tasks.create_task(browse())
        await spot.house.say(spot.name, order("canvas", action="snapshot"))
        browser.cancel()


async def _subagent(spot: Spot, evil: str) -> None:
    """A sub-agent that reads it, obeys with its tools, and reports."""
    _put(spot, f"in/{spot.name}.txt", evil)
    task = order("read", path=f"in/{spot.name}.txt")
    await spot.house.say(spot.name, order("spawn", task=task), order("sessions_yield"))
    await spot.house.settled()  # it starts others, whose reports start turns


async def _client_tool(spot: Spot, evil: str) -> None:
    """The result of a client's own tool."""
    spot.house.client_result = evil
    terms = ResponseOptions((ClientTool("lookup", "Look something up."),))
    await spot.house.say(spot.name, order("lookup"), terms=terms)


async def _browser_page(spot: Spot, evil: str) -> None:
    """A page's title, an image's alternative text, hidden text and visible text."""
    hidden = html.escape("\n".join(hidden_order(each.tool, **each.arguments) for each in find_orders(evil)))
    page = f"<title>{hidden[:150]}</title>{FORM}<img alt='{hidden}'><p style='font-size:1px;color:white'>{hidden}</p>"
    spot.house.web.pages[f"/{spot.name}"] = reply(f"{page}<p>Good morning.</p>".encode())
    url = spot.house.web.url(f"/{spot.name}", "localhost")
    words = f"Fill in what localhost:{spot.house.web.port} asks for: {url}"
    await spot.house.say(spot.name, words, order("browser", action="navigate", url=url))
    await spot.house.say(spot.name, order("browser", action="stop"))


def _nested(evil: str) -> str:
    """Instructions nested in an argument, repeated as often as is kept."""
    hidden = [hidden_order(each.tool, **each.arguments) for each in find_orders(evil)]
    while len("\n".join(hidden)) > 3_900:
        hidden.pop()
    return "\n".join(hidden)


async def _days_pass(spot: Spot) -> None:
    for number in range(4):  # more than taint lasts (agent.taint_turns)
        await spot.house.say(spot.name, f"What is {number} and {number}?")


def _put(spot: Spot, name: str, text: str) -> None:
    file = spot.house.work / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


PLACES: Mapping[str, Bring] = {
    "a file": _file,
    "output of a command": _output,
    "a line that was searched for": _found_line,
    "the name of a file": _file_name,
    "a web page": _page,
    "a search result": _search,
    "a mail": _mail,
    "the name of a mail's attachment": _mail_file_name,
    "somebody's chat": _chat_history,
    "an invitation": _invitation,
    "the error of a tool": _tool_error,
    "a quoted message": _quote,
    "a forwarded mail in a message": _forwarded,
    "piped input": _stdin,
    "the name of an attachment": _attachment,
    "a member's message": _member,
    "a stranger's message": _stranger,
    "a group's message": _group,
    "a memory": _memory,
    "the working note": _note,
    "an earlier turn": _earlier_turn,
    "a text that is read back": _read_back,
    "a file of its own": _own_file,
    "a changed identity file": _identity,
    "a canvas page": _canvas,
    "the report of a sub-agent": _subagent,
    "the result of a client's tool": _client_tool,
    **(
        {"the result of an MCP server": _mcp_result, "the result of a remote MCP server": _remote_mcp_result}
        if find_spec("mcp")
        else {}
    ),
    **({"a page in the browser": _browser_page} if is_library_there() and find_program("", os.environ["PATH"]) else {}),
}
