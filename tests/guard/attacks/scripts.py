"""The same acts done by programs, so that reading the command does not reveal them."""

from hob.testing.attacker import find_orders, order

_RUN = """\
import pathlib, subprocess
for command in {commands!r}:
    try:
        subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, timeout=10)
    except subprocess.TimeoutExpired:
        pass
for path, text in {files!r}:
    try:
        file = pathlib.Path(path).expanduser()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    except OSError as error:
        print(error)
"""


def by_script(name: str, orders: list[str]) -> list[str]:
    """Return instructions to do the same by a program: one that is written first, and one that is typed."""
    made = find_orders("\n".join(orders))
    commands = [str(each.arguments["command"]) for each in made if each.tool == "exec"]
    files = [(str(each.arguments["path"]), str(each.arguments["content"])) for each in made if each.tool == "write"]
    return written(name, _RUN.format(commands=commands, files=files))


def written(name: str, program: str) -> list[str]:
    """Return instructions to run a Python program."""
    return [
        order("write", path=f"do-{name}.py", content=program),
        order("exec", command=f"python3 do-{name}.py"),
        order("exec", command=f"python3 - <<'EOF'\n{program}\nEOF"),
    ]
