"""Taking argument lists apart as programs do."""

from collections.abc import Collection, Iterator

Args = tuple[str, ...]


def after_options(args: Args, valued: Collection[str] = (), operands: int = 0, assigns: bool = False) -> Args:
    """What follows the options (of which `valued` take the next argument), some operands and `NAME=value`."""
    at = 0
    while at < len(args):
        arg = args[at]
        if arg == "--":
            at += 1
            break
        if arg[:1] == "-" and arg != "-":
            at += 2 if arg in valued else 1
        elif assigns and "=" in arg and arg.partition("=")[0].replace("_", "a").isalnum():
            at += 1
        else:
            break
    at += operands
    while assigns and at < len(args) and "=" in args[at] and args[at].partition("=")[0].replace("_", "a").isalnum():
        at += 1
    return args[at:]


def operands(args: Args, valued: Collection[str] = ()) -> list[str]:
    """The arguments that are neither options nor the values of `valued` ones."""
    found: list[str] = []
    at = 0
    while at < len(args):
        arg = args[at]
        if arg == "--":
            found.extend(args[at + 1 :])
            break
        if arg[:1] == "-" and len(arg) > 1:
            at += 2 if arg in valued else 1
            continue
        found.append(arg)
        at += 1
    return found


def values(args: Args, *options: str) -> Iterator[str]:
    """The values of these options, in whatever way they are attached: `-e x`, `-ex`, `--exec x`, `--exec=x`."""
    for at, arg in enumerate(args):
        if arg == "--":
            return
        for option in options:
            if arg == option:
                if at + 1 < len(args):
                    yield args[at + 1]
            elif arg.startswith(option + "="):
                yield arg[len(option) + 1 :]
            elif len(option) == 2 and arg.startswith(option) and arg[1] != "-":
                yield arg[2:]


def has(args: Args, letters: str = "", *options: str) -> bool:
    """Is one of these one-letter options there, alone or in a cluster, or one of the long ones, perhaps shortened?"""
    for arg in args:
        if arg == "--":
            return False
        if arg[:2] == "--":
            name = arg.partition("=")[0]
            if any(name == option or (len(name) > 4 and option.startswith(name)) for option in options):
                return True
        elif arg[:1] == "-" and (arg in options or any(letter in arg[1:] for letter in letters)):
            return True
    return False


def divided(args: Args, valued: str) -> Args:
    """The arguments with clusters of one-letter options taken apart; `valued` letters take the rest as their value."""
    found: list[str] = []
    for arg in args:
        if len(arg) < 3 or arg[0] != "-" or arg[1] == "-":
            found.append(arg)
            continue
        for at in range(1, len(arg)):
            found.append("-" + arg[at])
            if arg[at] in valued:
                if arg[at + 1 :]:
                    found.append(arg[at + 1 :])
                break
    return tuple(found)
