"""`/browser`: lets the owner take the browser over, for example to log in, and give it back."""

from hob.agent.commands.slash_commands import CommandCall
from hob.app.browser.port import BrowserControl
from hob.app.kernel import Kernel
from hob.core.errors import NotFound, NotReady
from hob.core.libraries import install_command
from hob.core.translation.language import say, translated
from hob.tools.browser.detection import EXTRA, is_library_there


async def command(kernel: Kernel, call: CommandCall) -> str:
    """Run the command. Returns what was done, or the next step."""
    wanted = call.rest.strip()
    if not wanted and not is_library_there():
        return say(call.language, "The browser needs a library: {command}", command=install_command(EXTRA))
    control = kernel.port(BrowserControl)
    try:
        match wanted:
            case "take":
                await control.take(call.session)
                return say(
                    call.language,
                    "The browser is yours. What you type there is neither recorded nor shown to the model. "
                    "When you are done: /browser back",
                )
            case "back":
                await control.give_back(call.session)
                return say(call.language, "Hob acts in the browser again.")
            case "close":
                if await control.stop(call.session):
                    return say(call.language, "The browser is closed.")
                return say(call.language, "No browser is open in this conversation.")
            case "":
                return say(call.language, "Browser: {state}", state=control.state_of(call.session))
            case _:
                return say(call.language, "Say what: /browser take, back or close")
    except (NotFound, NotReady) as error:
        return translated(error.args[0], call.language)
