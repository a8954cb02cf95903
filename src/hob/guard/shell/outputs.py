"""Command output that is known from the arguments: `echo`, `printf`, decoders, `find`.

This suffices to see through text that is assembled or decoded only to be run. All other commands output ANY.
"""

import base64
import binascii
import re
from collections.abc import Callable

from hob.guard.shell.arguments import ANY, STAR, cap_length, is_known, mark_wildcards, option_values, split_clusters
from hob.guard.shell.lexer import unescape

_DIRECTIVE = re.compile(r"%(?:%|[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?([sbqdiouxXcfFeEgG]))")
_CLASS = re.compile(r"\[:(\w+):\]")
_RANGE = re.compile(r"(.)-(.)", re.DOTALL)
_SETS = {"upper": "A-Z", "lower": "a-z", "digit": "0-9", "alpha": "A-Za-z", "space": " \t\n"}


def known_output(argv: tuple[str, ...], stdin: str | None) -> str:
    """Return the command's output, ANY if unknown."""
    name = argv[0].rpartition("/")[2]
    if name in ("command", "type"):
        return _first(argv[2:], "") if argv[1:2] in (("-v",), ("-p",), ("-P",)) else ANY
    found = _WRITERS.get(name)
    return ANY if found is None else cap_length(found(argv[1:], ANY if stdin is None else stdin))


def _echo(args: tuple[str, ...], _: str) -> str:
    options = ""
    while args and re.fullmatch("-[neE]+", args[0]):
        options += args[0]
        args = args[1:]
    text = " ".join(args)
    if "e" in options:
        text = unescape(text, zero=True)
    return text if "n" in options else text + "\n"


def _printf(args: tuple[str, ...], _: str) -> str:
    if args and args[0] == "--":
        args = args[1:]
    if not args or args[0] == "-v":
        return ""
    form, rest = unescape(args[0]), list(args[1:])
    if ANY in form:
        return ANY
    wanted = sum(1 for found in _DIRECTIVE.finditer(form) if found[1])
    out: list[str] = []
    while True:
        out.append(_DIRECTIVE.sub(lambda found: _directive(found, rest), form))
        if not rest or not wanted or len(out) > 64:
            return "".join(out) if not rest or not wanted else ANY


def _directive(found: re.Match[str], rest: list[str]) -> str:
    if not found[1]:
        return "%"
    value = rest.pop(0) if rest else ""
    match found[1]:
        case "s" | "q":
            return value if found[0] in ("%s", "%q") else ANY
        case "b":
            return unescape(value, zero=True)
        case "c":
            return value[:1]
        case "d" | "i" | "u" if re.fullmatch(r"-?\d+", value) and len(found[0]) == 2:
            return value
        case "x" | "X" | "o" if re.fullmatch(r"\d{1,18}", value) and len(found[0]) == 2:
            return format(int(value), found[1])
    return ANY


def _decoded(decode: Callable[[str], bytes]) -> Callable[[tuple[str, ...], str], str]:
    def decoded(args: tuple[str, ...], stdin: str) -> str:
        if not any(arg.startswith("--dec") or re.fullmatch("-[A-Za-z]*[dDr][A-Za-z]*", arg) for arg in args):
            return ANY
        if any(not arg.startswith("-") for arg in args) or not is_known(stdin):
            return ANY
        try:
            text = decode(stdin).decode("utf-8", "replace")
        except (ValueError, binascii.Error):
            return ANY
        return text.replace("\x00", "")

    return decoded


def _base64(text: str) -> bytes:
    kept = re.sub(r"[^A-Za-z0-9+/]", "", text)
    return base64.b64decode(kept[: len(kept) - (len(kept) % 4 == 1)] + "=" * (-len(kept) % 4))


def _base32(text: str) -> bytes:
    kept = re.sub(r"[^A-Za-z2-7]", "", text)
    return base64.b32decode(kept + "=" * (-len(kept) % 8), casefold=True)


def _hex(text: str) -> bytes:
    kept = re.sub(r"[^0-9A-Fa-f]", "", text)
    return bytes.fromhex(kept[: len(kept) // 2 * 2])


def _rev(args: tuple[str, ...], stdin: str) -> str:
    if args or not is_known(stdin):
        return ANY
    return "".join(line[::-1] + "\n" for line in stdin.splitlines())


def _tr(args: tuple[str, ...], stdin: str) -> str:
    if not is_known(stdin) or not all(map(is_known, args)):
        return ANY
    if len(args) == 2 and args[0] == "-d":
        return stdin.translate({ord(char): None for char in _members(args[1])})
    if len(args) != 2 or args[0].startswith("-"):
        return ANY
    old, new = _members(args[0]), _members(args[1])
    if not new:
        return ANY
    return stdin.translate(str.maketrans(old, new[: len(old)] + new[-1] * (len(old) - len(new))))


def _members(text: str) -> str:
    text = unescape(_CLASS.sub(lambda found: _SETS.get(found[1], ""), text))[:512]
    return _RANGE.sub(
        lambda ends: "".join(map(chr, range(ord(ends[1]), min(ord(ends[2]), ord(ends[1]) + 512) + 1))), text
    )


def _cat(args: tuple[str, ...], stdin: str) -> str:
    return stdin if all(arg == "-" or arg.startswith("-u") for arg in args) else ANY


def _first(args: tuple[str, ...], _: str) -> str:
    names = [arg for arg in args if not arg.startswith("-")]
    return names[0] + "\n" if len(names) == 1 else ANY


def _seq(args: tuple[str, ...], _: str) -> str:
    if not args or len(args) > 2 or not all(re.fullmatch(r"\d{1,6}", arg) for arg in args):
        return ANY
    first, last = int(args[0]) if len(args) == 2 else 1, int(args[-1])
    return "".join(f"{number}\n" for number in range(first, last + 1)) if last - first < 4000 else ANY


def _ls(args: tuple[str, ...], _: str) -> str:
    return "".join(arg + "\n" for arg in args[1:]) if args[:1] == ("-d",) else ANY


_HOOKS = ("pyenv", "rbenv", "nodenv", "direnv", "brew", "opam", "fnm", "zoxide", "starship", "mise", "dircolors")


def _hook(args: tuple[str, ...], _: str) -> str:
    """Output of hook programs, which print shell settings to be evaluated."""
    return "" if args[:1] in (("init",), ("hook",), ("env",), ("shellenv",), ("activate",), ("-b",)) else ANY


def _find(args: tuple[str, ...], _: str) -> str:
    """Return the paths that `find` may print, one pattern per starting point."""
    found = find_paths(args)
    return "\n".join(found) + "\n"


def find_paths(args: tuple[str, ...]) -> list[str]:
    """Return the possible values of `{}`: starting points and names, as far as the tests tell."""
    at = 0
    while at < len(args) and args[at] in ("-H", "-L", "-P"):
        at += 1
    places: list[str] = []
    while at < len(args) and not args[at].startswith(("-", "(", "!")):
        places.append(args[at])
        at += 1
    tests = args[at:]
    names = [mark_wildcards(tests[i + 1]) for i, test in enumerate(tests[:-1]) if test in ("-name", "-iname")]
    negated = "!" in tests or "-not" in tests
    if not names or negated or (len(names) > 1 and not {"-o", "-or"} & set(tests)):
        # without a name test, the starting point itself matches too
        return [path for place in places or ["."] for path in (place, f"{place}/{STAR}")] if not names else [
            f"{place}/{STAR}" for place in places or ["."]
        ]  # fmt: skip
    return [f"{place}/{STAR}/{name}" for place in places or ["."] for name in names[:8]]


def written_files(argv: tuple[str, ...], stdin: str | None) -> dict[str, str]:
    """Return the files that the command writes besides its output, with their content."""
    name, args = argv[0].rpartition("/")[2], argv[1:]
    if name == "tee":
        return {path: ANY if stdin is None else stdin for path in args if not path.startswith("-")}
    if name == "dd":
        return {arg[3:]: ANY if stdin is None else stdin for arg in args if arg.startswith("of=")}
    if name not in ("curl", "wget", "aria2c"):
        return {}
    args = split_clusters(args, "oOHdAuXTFebcwmKxEz" if name == "curl" else "OoPtTUei")
    paths = list(option_values(args, *(("-o", "--output") if name == "curl" else ("-O", "--output-document", "-o"))))
    paths += [arg.partition("?")[0].rpartition("/")[2] for arg in args if "/" in arg and not arg.startswith("-")]
    return {path: ANY for path in paths if path and path != "-"}


_WRITERS: dict[str, Callable[[tuple[str, ...], str], str]] = {
    "echo": _echo,
    "printf": _printf,
    "base64": _decoded(_base64),
    "base32": _decoded(_base32),
    "xxd": _decoded(_hex),
    "rev": _rev,
    "tr": _tr,
    "cat": _cat,
    "tee": lambda _, stdin: stdin,
    "true": lambda *_: "",
    ":": lambda *_: "",
    "false": lambda *_: "",
    "which": _first,
    "realpath": _first,
    "mktemp": lambda *_: "/tmp/" + ANY,  # noqa: S108 - what a program will print
    "find": _find,
    "seq": _seq,
    "ls": _ls,
    **dict.fromkeys(_HOOKS, _hook),
}
