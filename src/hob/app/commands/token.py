"""`hob token`."""

from cyclopts import App

from hob.app.home import make_home
from hob.app.sections import read_config
from hob.gateway.settings import GatewaySettings
from hob.gateway.tokens import ensure_token

app = App(name="token", help="The API's bearer token.", help_formatter="plain", result_action="return_value")


@app.command
def show() -> int:
    """Print the token that `Authorization: Bearer` takes; it is made if there is none yet."""
    config = read_config()
    make_home(config.home)
    print(ensure_token(config.home, config[GatewaySettings].auth_token))
    return 0
