"""Shell analysis: commands, where they run, how they are displayed, and what an approval binds."""

import pytest

from hob.guard.shell.analysis import analyse
from hob.guard.shell.arguments import ANY, HERE, HOME, STAR
from hob.guard.shell.commands import Analysis, SimpleCommand


def _only(text: str, name: str) -> SimpleCommand:
    """Return the only command of this name."""
    (found,) = (command for command in analyse(text).commands if command.name == name)
    return found


def _argvs(analysis: Analysis) -> list[tuple[str, ...]]:
    return [command.argv for command in analysis.commands if command.argv]


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("a\\ b", "a b"),
        ("'a b'", "a b"),
        ('"a\\"b"', 'a"b'),
        ("$'a\\tb\\x41\\u00e9\\101'", "a\tbAéA"),
        ('$"a"', "a"),
        ("a'b'\"c\"d", "abcd"),
        ("''", ""),
        ("~/x", f"{HOME}/x"),
        ("'~/x'", "~/x"),
        ("a=~/x", f"a={HOME}/x"),
        ("*.py", f"{STAR}.py"),
        ("'*.py'", "*.py"),
        ("$HOME", HOME),
        ("$(cat x)", ANY),
        ("$(echo x)", "x"),
        ("$((1))", "1"),
        ("$((1 + 1))", ANY),
        ("${x:-y}", "y"),
        ("${#HOME}", ANY),
        ("$RANDOM", ANY),
        ("a\\\nb", "ab"),
    ],
)
def test_words_are_read_as_the_shell_reads_them(written: str, word: str) -> None:
    assert _only(f"cmd {written}", "cmd").argv == ("cmd", word)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x='a  b'; cmd $x", ("a", "b")),
        ("x='a  b'; cmd \"$x\"", ("a  b",)),
        ("cmd $nothing", ()),
        ("cmd {a,b}{1,2}", ("a1", "a2", "b1", "b2")),
        ("cmd {1..3}", ("1", "2", "3")),
        ("cmd '{a,b}'", ("{a,b}",)),
        ("x=(a 'b c'); cmd \"${x[@]}\"", ("a", "b c")),
        ("set -- a b; shift; cmd $1 $#", ("b", ANY)),
        ("x=abc; cmd ${x%c} ${x#a} ${x/b/-} ${x:1:1} ${x^^}", ("ab", "bc", "a-c", "b", "ABC")),
        ("x=y; y=z; cmd ${!x}", ("z",)),
        ("IFS=:; x=a:b; cmd $x", ("a", "b")),
        ("read x <<< 'a b'; cmd \"$x\"", ("a b",)),
    ],
)
def test_words_are_expanded_and_split_as_the_shell_does(text: str, words: tuple[str, ...]) -> None:
    assert _only(text, "cmd").argv[1:] == words


def test_every_command_is_found_at_any_depth() -> None:
    text = "a && b || c; d | e & f; (g; { h; }) >x; if i; then j; else k; fi; while l; do m; done; echo $(n `o`) <(p)"
    assert {argv[0] for argv in _argvs(analyse(text))} >= set("abcdefghijklmnop")


def test_command_has_its_working_directory() -> None:
    assert _only("cd src/app && ls", "ls").directory == f"{HERE}/src/app"
    assert _only("(cd src); ls", "ls").directory == HERE
    assert _only("cd; ls", "ls").directory == HOME
    assert _only('cd "$(pwd -P)/x" && ls', "ls").directory != HERE


def test_command_has_its_context_and_input_sources() -> None:
    inner = _only("sudo env A=b bash -c 'rm x'", "rm")
    assert inner.via == ("sudo", "env", "bash")
    assert _only("curl -s u | tee f | sh", "sh").fed_by == ("curl", "tee")
    assert _only("make &", "make").background


def test_redirections_and_assignments_belong_to_their_command() -> None:
    command = _only("A=1 B=$HOME cmd <in 2>err >>out", "cmd")
    assert command.assignments == (("A", "1"), ("B", HOME))
    assert [(at.descriptor, at.operator, at.target) for at in command.redirections] == [
        ("", "<", "in"),
        ("2", ">", "err"),
        ("", ">>", "out"),
    ]


def test_here_document_is_read_as_the_shell_does() -> None:
    assert _only("cat <<E\n$HOME\nE", "cat").redirections[0].target == f"{HOME}\n"
    assert _only("cat <<'E'\n$HOME\nE", "cat").redirections[0].target == "$HOME\n"
    assert _only("cat <<-E\n\ta\n\tE\nls", "cat").redirections[0].target == "a\n"
    assert _argvs(analyse("cat <<E\nrm -rf /\nE\nls")) == [("cat",), ("ls",)]


def test_both_values_of_a_variable_are_followed() -> None:
    analysis = analyse("if a; then x=b; else x=c; fi; cmd $x")
    found = {command.argv for command in (*analysis.commands, *analysis.others) if command.name == "cmd"}
    assert found == {("cmd", "b"), ("cmd", "c")}


def test_unset_variable_may_come_from_the_environment() -> None:
    analysis = analyse("cmd ${DIR:-build}")
    assert [command.argv for command in analysis.commands] == [("cmd", "build")]
    assert [command.argv for command in analysis.others] == [("cmd", ANY)]


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("sudo -u bob ls", ("ls",)),
        ("env -i A=b ls", ("ls",)),
        ("env -S 'ls -l'", ("ls", "-l")),
        ("nohup nice -n 5 timeout -k 1 5 ls", ("ls",)),
        ("xargs -n 1 -P 4 ls -l <<< x", ("ls", "-l", "x")),
        ("find src -name '*.py' -exec ls {} +", ("ls", f"src/{STAR}/{STAR}.py")),
        ("find . -execdir ls \\;", ("ls",)),
        ("busybox ls", ("ls",)),
        ("ssh host ls -l", ("ls", "-l")),
        ("su -c 'ls' bob", ("ls",)),
        ("script -qc ls /dev/null", ("ls",)),
        ("parallel ls ::: a", ("ls", "a")),
        ("watch -n 1 ls", ("ls",)),
        ("git -c alias.x='!ls' x", ("ls",)),
        ("git submodule foreach ls", ("ls",)),
        ("git bisect run ls", ("ls",)),
        ("tar cf x y --checkpoint-action=exec=ls", ("ls",)),
        ("rsync -e ls a b:c", ("ls",)),
        ("trap ls EXIT", ("ls",)),
        ("uv run ls", ("ls",)),
        ("command exec -a x ls", ("ls",)),
        ("bash -lc 'sh -c \"ls\"'", ("ls",)),
        ("echo bHM= | base64 -d | sh", ("ls",)),
        ("echo ls > x; sh x", ("ls",)),
        ("source <(echo ls)", ("ls",)),
    ],
)
def test_inner_program_of_a_command_is_followed(text: str, inner: tuple[str, ...]) -> None:
    assert inner in _argvs(analyse(text))


@pytest.mark.parametrize(
    "text",
    [
        "echo 'x",
        'echo "x',
        "echo $(x",
        "echo `x",
        "echo ${x",
        "(ls",
        "ls)",
        "if ls",
        "for x in; done",
        "cat <<E",
        "ls |",
        "&& ls",
        "ls ;; ls",
        "case x in a) ls",
        "f() ",
        "{ ls }",
        "(ls) ls",
        "fi",
        "$((1",
        "[[ x",
    ],
)
def test_unreadable_part_of_a_command_is_reported(text: str) -> None:
    assert analyse(text).problems


def test_parts_before_and_after_an_error_are_still_read() -> None:
    analysis = analyse("rm a\nif; rm b 'c")
    assert ("rm", "a") in _argvs(analysis)
    assert ("rm", "b", "c") in _argvs(analysis)


def test_deceptive_characters_are_reported_and_removed() -> None:
    analysis = analyse("r\u200bm x\r\u00a0y")
    assert {problem.rule for problem in analysis.problems} == {"hidden-characters"}
    assert _argvs(analysis) == [("rm", "x", "y")]


def test_overlong_text_is_reported() -> None:
    assert any("too long" in problem.reason for problem in analyse("ls\n" * 30_000).problems)


def test_lines_for_people_show_what_will_run() -> None:
    analysis = analyse("d=/; sudo bash -c 'cd src && rm -rf \"$1\"' x $d | tee 'a b'")
    assert analysis.lines() == (
        "d=/",
        "sudo bash -c 'cd src && rm -rf \"$1\"' x /",
        "  bash -c 'cd src && rm -rf \"$1\"' x /",
        "    cd src",
        "    rm -rf /",
        "tee 'a b'",
    )


def test_analysis_lists_every_program_and_script_to_bind() -> None:
    analysis = analyse("f() { make; }; f; cd tools; ./gen.py < x; python3 -u lib/a.py; bash run.sh; . env.sh; echo x")
    assert analysis.executables == ("make", "./gen.py", "python3", "bash")
    assert set(analysis.scripts) == {
        *((name, ".") for name in ("GNUmakefile", "makefile", "Makefile")),
        ("./gen.py", "./tools"),
        ("lib/a.py", "./tools"),
        ("run.sh", "./tools"),
        ("env.sh", "./tools"),
    }


def test_programs_of_both_branches_are_bound() -> None:
    analysis = analyse("if a; then x=./b; else x=./c; fi; $x; sh $x.sh")
    assert {"./b", "./c"} <= set(analysis.executables)
    assert {("./b.sh", "."), ("./c.sh", ".")} <= set(analysis.scripts)
