"""`hob status`."""

import time

from hob.app.commands.output import age, line, paint, print_json
from hob.app.home import socket_of
from hob.app.reaching import reach
from hob.config import find_home, process_environment


def status(*, json: bool = False) -> int:
    """How Hob is: running, waiting, owed, spent.

    Parameters
    ----------
    json:
        Print JSON.
    """
    home = find_home(process_environment())
    running = socket_of(home).exists()
    seen = reach(home, "GET", "/status", {}, lambda app: app.desk.status())
    if json:
        print_json(seen)
        return 0
    owner = paint("running", "green") if running else paint("not running; start it with `hob serve`", "yellow")
    print(f"Hob {seen['version']} in {home}: {owner}")
    print(f"turns     {seen['running']} running, {seen['waiting']} waiting, {seen['parked']} parked")
    oldest = f", the oldest for {age(seen['oldest_owed_seconds'])}" if seen["oldest_owed_seconds"] else ""
    unread = f", {seen['unread']} not fetched yet" if seen["unread"] else ""
    print(f"replies   {seen['owed']} to be sent{oldest}{unread}")
    if seen["undeliverable"]:
        print(paint(f"          {seen['undeliverable']} could not be delivered:", "red"))
        for row in seen["stuck"]:
            print(f"          {row['channel']}: {line(row['reason'])}; `hob retry {row['id']}` sends it again")
    print(f"model     {seen['model']}")
    for row in seen["resting"]:
        left = age(max(0.0, row["until"] - time.time()))
        print(paint(f"          {row['model']} (key {row['key']}) rests for {left}: {row['reason']}", "yellow"))
    for name in seen["unaccepted"]:
        print(paint(f"files     {name} was changed and is untrusted; `hob accept {name}` accepts it", "yellow"))
    print(f"store     {paint(seen['store'], 'green' if seen['store'] == 'ok' else 'red')}")
    return 0
