"""If the analysis claims to know an argument, bash computes the same."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.guard.shell.analysis import analyse
from hob.guard.shell.arguments import ANY, HERE, HOME, ONE, STAR

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="bash is not installed")


def _table(text: str) -> tuple[str, ...]:
    """Return the items of a table, separated by two blanks or a line end."""
    return tuple(re.split(r"  +|\n", text.strip()))


SETS = _table(r"""
x=abcab  x='a b c'  x=  x=a:b::c  y=x  x+=d  a=(p 'q r' s)  set -- one 'two three'  shift  unset x  IFS=:  IFS=
printf -v y %s-%s 1 2  read x y <<< 'p q r'  x=$y  x="$x$x"
""")
PIECES = _table(r"""
a  b  -  /  .  1  ,  ~/  'a b'  "a b"  ''  ""  \   \\  '\'  "\a\$"  \$x  $'\x41\102\t\u00e9'  $'a\e'  $x  "$x"
${x}  ${y}  ${z}  "$@"  $@  "$*"  $1  ${2}  ${a[@]}  "${a[@]}"  ${a[1]}  ${a[-1]}  ${a}  ${!y}  ${x:-d e}
"${x:-d e}"  ${z-d}  ${z:=w}  ${x:+s}  ${z+s}  ${x#a}  ${x##*a}  ${x%b}  ${x%%b*}  ${x#?}  ${x/a/-}  ${x//a/-}
${x/#a/}  ${x/%b/}  ${x:1}  ${x:1:2}  ${x: -2}  ${x:0:-1}  ${x^}  ${x^^}  ${x,,}  {a,b}  {1..3}  {b..a}  {a,{b,c}}
{a}  {}  $((3))  $(echo a b)  "$(echo "a b")"  `echo c`  $(printf '%s-' a b)  $(echo ab | tr a-b x-y)
$(rev <<< ab)  !  ^  $(echo aGk= | base64 -d)  $(printf '%b' 'a\0101')  $(echo -e 'a\x41')  $(cat <<< q)  *  ?
%  @
""")

words = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)
texts = st.builds(
    lambda sets, arguments: "\n".join([*sets, "cmd " + " ".join(arguments)]),
    st.lists(st.sampled_from(SETS), max_size=4),
    st.lists(words, max_size=3),
)


def _by_bash(text: str, directory: Path) -> tuple[str, ...] | None:
    script = f'cmd() {{ printf "%s\\0" "$#" "$@"; exit; }}\n{text}'
    done = subprocess.run(
        [BASH or "", "--norc", "-fc", script],
        capture_output=True,
        cwd=directory,
        env={"HOME": "/h", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    )
    if not done.stdout or done.stderr:
        return None
    count, *arguments = done.stdout.decode().split("\0")[:-1]
    return tuple(arguments[: int(count)])


@given(text=texts)
def test_bash_agrees_on_every_known_argument(text: str, tmp_path: Path) -> None:
    analysis = analyse(text)
    found = [command.argv[1:] for command in analysis.commands if command.name == "cmd"]
    if analysis.problems or len(found) != 1 or any(ANY in arg or "[" in arg or ONE + "}" in arg for arg in found[0]):
        return
    expected = _by_bash(text, tmp_path)
    if expected is not None:
        signs = str.maketrans({STAR: "*", ONE: "?", HOME: "/h", HERE: str(tmp_path)})
        assert tuple(arg.translate(signs) for arg in found[0]) == expected
