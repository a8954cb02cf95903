"""Code in other languages within a command: `python -c`, `awk`, `sed`, SQL.

It is not parsed. A word that can start programs, open connections, delete, or turn text into code needs approval.
Quoted text is read as a shell command and as a path, and refused where those are.
"""

import re
from collections.abc import Iterator

from hob.core.tools import Effect
from hob.core.translation.language import translatable
from hob.guard.shell.arguments import ANY, HOME
from hob.guard.shell.command_context import RuleInput, ShellFinding
from hob.guard.shell.commands import Code
from hob.guard.shell.places import CRITICAL_PLACES, HARMLESS_PLACES, ShellPlace
from hob.guard.shell.rules.secrets import find_secret_name

_LONGEST = 16_384  # characters of code
_MAX_TEXTS = 40  # quoted texts examined
_QUOTED = re.compile(
    r"\"((?:[^\"\\\n]|\\.){1,2000})\"|'((?:[^'\\\n]|\\.){1,2000})'|`([^`\n]{1,2000})`|"
    r"(?:%[wxqQ]?|\bq[qwx]?)\s?(?:\(([^)\n]{1,500})\)|\{([^}\n]{1,500})\}|\[([^\]\n]{1,500})\]|[/|!]([^/|!\n]{1,500})[/|!])"
)
_ENDLESS = re.compile(
    r"while\s*\(?\s*(?:True|true|1|\(1\)|:|fork|!|os\.fork|not\s+os\.fork)|for\s*\(\s*;\s*;\s*\)|\bloop\b|\bforever\b|"
    r"fork\s+while|\buntil\s+(?:0|false)|itertools\.(?:count|repeat|cycle)|iter\(int|range\(\s*\d{4,}|fork\b[^;]{0,200}\bfork\b|"
    r"\bdef\s+(\w{1,40})\b.{0,500}\b\1\b|setInterval|\bredo\b",
    re.DOTALL,
)
_FORK = re.compile(r"\bfork\b")
_RUNS = re.compile(
    r"\b(?:system|popen\w*|Popen|subprocess|check_output|check_call|exec\w*|eval\w*|compile|spawn\w*|posix_spawn\w*|qx|syscall|"
    r"__import__|importlib|runpy|pty|ctypes|cffi|getattr|setattr|globals|locals|vars|builtins?|__builtins__|marshal|pickle|"
    r"child_process|execSync|spawnSync|require\s*\(\s*[^'\")]|vm|Function|constructor|process\.(?:binding|dlopen|kill)|Bun\.\$|"
    r"shell_exec|passthru|proc_open|pcntl_\w+|assert|create_function|loadstring|dofile|loadfile|io\.popen|os\.execute|run_process|"
    r"Kernel|instance_eval|class_eval|send|public_send|Open3|IO\.popen|do\s+shell\s+script|Invoke-\w+|iex|Start-Process|"
    r"breakpoint|code\.interact|multiprocessing|fork|forkpty|threading|signal|kill\w*|abort|gc|sys\.modules|"
    r"settrace|setprofile|addaudithook|platform\.popen|webbrowser|antigravity|timeit|cProfile|pdb|ImportError)\b|"
    r"__(?!version__|name__|file__|doc__|path__|main__|init__|all__|author__|future__|dict__|len__)\w+__|"
    r"(?<![\w'\"])`[^`\n]+`"
)
_HIDES = re.compile(
    r"\b(?:codecs|base64|b64decode|binascii|fromhex|unhexlify|decode|atob|fromCharCode|unpack|pack|chr|String\.raw|Buffer|zlib|rot13|"
    r"unescape)\b|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[0-7]{3}"
)
_RIGHTS = re.compile(r"ch(?:mod|own)\w*")
_DELETES = re.compile(
    r"\b(?:unlink\w*|remove|rmtree|rmdir\w*|removedirs|rm|rmSync|rm_r|rm_rf|remove_tree|delete|destroy|truncate\w*|"
    r"removeSync|emptyDir|chmod\w*|chown\w*|symlink\w*|link|mkfs|rename\w*|move|FileUtils|shutil)\b"
)
_SENDS = re.compile(
    r"\b(?:socket|urllib\d?|urlopen|requests|httpx|aiohttp|http\.client|http\.request|https?\.get|fetch|XMLHttpRequest|axios|net\.|"
    r"dgram|dns|smtplib|ftplib|poplib|imaplib|telnetlib|paramiko|fabric|LWP|HTTP::|IO::Socket|Net::|TCPSocket|UDPSocket|open-uri|"
    r"fsockopen|curl_\w+|stream_socket|file_get_contents\s*\(\s*['\"]https?|socket\.http|inet|getaddrinfo|gethostbyname|asyncio\.open_\w+|"
    r"WebSocket|grpc|boto3?|Net)\b"
)
_ENVIRONMENT = re.compile(
    r"\b(?:environb?|getenv|putenv|process\.env|ENVIRON|Deno\.env|Bun\.env)\b|%ENV|\$ENV\{|\bENV\b(?!\s*=)|\$_ENV|\$_SERVER|os\.getenv|env\["
)
_WRITES = re.compile(
    r"open\s*\([^)]{0,200}['\"][rb]*[wax]\+?b?['\"]|\bwrite_(?:text|bytes)\b|writeFile\w*|appendFile\w*|File\.(?:write|open)|file_put_contents|fopen|"
    r"createWriteStream|open\s*\(?\s*\w*\s*,\s*['\"]?[>+]|io\.open|mkdir|to_csv|savetxt|\bdump\b"
)
_OPENS_TO_WRITE = re.compile(_WRITES.pattern + r"|['\"][rwab+]*[wa+][rwab+]*['\"]")
# harmless phrases that contain a dangerous word
_SAFE = re.compile(
    r"\bos\.(?:path\.\w+|getcwd|cpu_count|sep|linesep|name|uname|listdir|walk|scandir|getpid|stat|fspath)\b|\bre\.compile\b|"
    r"\.decode\(\s*(?:['\"](?:utf-?8|ascii|latin-?1)['\"])?\s*\)|\bjson\.(?:load|loads|dump|dumps)\b|\bsys\.exit\b|"
    r"\bprocess\.(?:exit|argv|version|versions|cwd|stdout\.write|stdin|platform|arch)\b|\bmodule\.exports\b|"
    r"\blist\.remove\b|\bdelete\s+\w+\.\w+|(?<!os)\.remove\(\s*['\"]?\w+['\"]?\s*\)(?!\s*;?\s*os)|\bassert\b|"
    r"import\s+compileall|\.get_?attr\b|\brequire\(\s*['\"](?:\.{0,2}/[\w./-]+|fs|path|util|os|url|assert|[\w@][\w@/-]*(?:/package\.json)?)['\"]\s*\)|"
    r"(?<!os)\.execute(?:many|script)?\(|\bstr\.(?:replace|join|split)\b|\bpathlib\b|\brename\(columns|\bmath\.\w+|\btime\.(?:time|sleep|perf_counter)\b"
)
_PROCESSES = re.compile(
    r"['\"](?:node:)?(?:child_process|cluster|net|dgram|dns|http|https|http2|tls|vm|worker_threads|repl|inspector|module|process)['\"]"
)
_SQL = re.compile(
    r"\b(?:drop|truncate|alter\s+table\s+\w+\s+drop|delete\s+from\s+\w+\s*(?:;|$)|update\s+\w+\s+set\s+[^;]*$(?<!where))",
    re.IGNORECASE,
)
_SQL_RUNS = re.compile(
    r"^\s*[.\\](?:shell|system|!|load|import\s*[|]|output\s*[|]|once|excel|restore|save|o\s|g\s*[|])|\\!|\bload_extension|\bcopy\b.*\bprogram\b|into\s+(?:out|dump)file|load_file|readfile|writefile|edit\(|\bsys_exec",
    re.IGNORECASE | re.MULTILINE,
)
_AWK = re.compile(
    r"\bsystem\b|(?:print|printf)\b[^;}\n]{0,200}\|(?!\|)|\|&?\s*getline|\"\s*\|(?!\|)\s*\S|/inet|\bENVIRON\b|@load|@include|\bgetline\s*<|close\s*\(\s*\""
)
_AWK_WRITES = re.compile(r"(?:print|printf)\b[^;}\n]{0,200}>{1,2}\s*(\"[^\"]*\"|[\w$]+)")
_VIM = re.compile(
    r"!|\bsystem\b|\bpy(?:thon)?3?\b|\blua\b|\bperl\b|\bruby\b|\bcall\b|\bexecute\b|\bterm|\bjob_start|\bsource\b|\bso\b|="
)


def judge_code(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge the code in other languages that the command contains."""
    for code in rule_input.command.runs.code:
        if len(code.text) > _LONGEST:
            yield rule_input.ask("inline-code", "the program in the command is too long to be looked through")
            code = code._replace(text=code.text[:_LONGEST])
        if ANY in code.text:
            yield rule_input.ask("inline-code", "a part of the program in the command is not known")
        yield from _SPECIAL.get(code.language, _general)(rule_input, code)


def _general(rule_input: RuleInput, code: Code) -> Iterator[ShellFinding]:
    text = code.text
    if _FORK.search(text) and _ENDLESS.search(text):
        yield rule_input.refuse("fork-bomb", "it starts copies of itself without end")
    shorter = _SAFE.sub(" ", text)
    changes = {found[0] for found in _DELETES.finditer(shorter)}
    runs = _RUNS.search(shorter) or _PROCESSES.search(text)
    hides = _HIDES.search(shorter)
    yield from _quoted(rule_input, text, bool(changes or runs or hides))
    if runs is not None:
        yield rule_input.ask("inline-code", translatable("{text} in it can run anything", text=repr(runs[0].strip())))
    if any(_RIGHTS.fullmatch(each) for each in changes):
        yield rule_input.ask("deletion", "the program in it can change who may use files")
    if any(not _RIGHTS.fullmatch(each) for each in changes):
        yield rule_input.ask("deletion", "the program in it can delete or move files")
    if hides is not None:
        yield rule_input.ask(
            "inline-code", translatable("{text} in it can hide what it does", text=repr(hides[0].strip()))
        )
    if _SENDS.search(shorter):
        yield rule_input.ask("sending", "the program in it talks to other computers", frozenset({Effect.COMMUNICATES}))
    if _ENVIRONMENT.search(text):
        yield rule_input.ask("environment-dump", "the program in it reads the environment, which may hold secrets")
    if name := find_secret_name(text):
        yield rule_input.ask("secret-reading", translatable("the program in it reaches for {name}", name=name))
    if _WRITES.search(text) and (
        re.search(r"['\"](?:/(?!tmp/)|~|[^'\"\n]*\.\./)", text) or "Path.home" in text or "expanduser" in text
    ):
        yield rule_input.ask("overwriting", "the program in it writes outside of the workspace")


def _quoted(rule_input: RuleInput, text: str, acts: bool) -> Iterator[ShellFinding]:
    """Judge the quoted texts as commands, and as paths to delete."""
    for found, _ in zip(_QUOTED.finditer(text), range(_MAX_TEXTS), strict=False):
        quoted = next(filter(None, found.groups()), "")
        if acts and " " in quoted.strip():
            yield from rule_input.refusals(quoted, rule_input)
        if not acts or len(quoted) > 200:
            continue
        place = rule_input.place(HOME + quoted[1:] if quoted[:1] == "~" else quoted)
        if place in CRITICAL_PLACES and quoted[:1] in "/~" and _DELETES.search(text):
            yield rule_input.refuse(
                "system-deletion", translatable("the program in it can delete {place}", place=place.value)
            )
    device = re.search(r"/dev/[a-z]\w*", text)
    if (
        device is not None
        and rule_input.place(device[0]) is ShellPlace.DEVICE
        and (acts or _OPENS_TO_WRITE.search(text))
    ):
        yield rule_input.refuse(
            "device-destruction", translatable("the program in it writes onto {path}", path=device[0])
        )
    if "Path.home" in text and re.search(r"rmtree", text):
        yield rule_input.refuse("system-deletion", "the program in it deletes a home directory")


def _awk(rule_input: RuleInput, code: Code) -> Iterator[ShellFinding]:
    if _AWK.search(code.text):
        yield rule_input.ask("inline-code", "the awk program can run commands or read other files")
        yield from _quoted(rule_input, code.text, True)
    for found in _AWK_WRITES.finditer(code.text):
        target = found[1].strip('"')
        if target.startswith(("/", "~", "..", "$")) and rule_input.place(target) not in HARMLESS_PLACES:
            yield rule_input.ask("overwriting", "the awk program writes files")
    if name := find_secret_name(code.text):
        yield rule_input.ask("secret-reading", translatable("the program in it reaches for {name}", name=name))


def _sed(rule_input: RuleInput, code: Code) -> Iterator[ShellFinding]:
    for kind, rest in _sed_commands(code.text):
        if kind == "e":
            yield rule_input.ask("inline-code", "the sed program runs commands")
            yield from rule_input.refusals(rest or code.text, rule_input)
        elif kind in "wWrR" and rest.strip() not in ("/dev/stdout", "/dev/stderr"):
            name = find_secret_name(rest) or (rest if kind in "wW" else "")
            if name:
                yield rule_input.ask(
                    "overwriting" if kind in "wW" else "secret-reading",
                    translatable("the sed program uses the file {name}", name=name),
                )
        elif kind == "?":
            yield rule_input.ask("inline-code", "the sed program is not understood")


_SED_ADDRESS = re.compile(
    r"[\s;{}!,]*(?:(?:\d+|\$|~\d+|\+\d+|/(?:[^/\\\n]|\\.)*/[IM]*|\\(.)(?:(?!\1)[^\\\n]|\\.)*\1[IM]*)[\s,~!]*)*",
    re.DOTALL,
)


def _sed_commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a sed program with their dangerous arguments; `?` marks unknown commands."""
    at = 0
    for _ in range(500):
        found = _SED_ADDRESS.match(text, at)
        at = found.end() if found is not None else at
        if at >= len(text):
            return
        kind = text[at]
        at += 1
        if kind in "sy":
            ends = _find_substitution_end(text, at)
            if ends is None:
                yield "?", text
                return
            flags = re.compile(r"[gpiImMe0-9]*(w[^\n;]*)?").match(text, ends)
            assert flags is not None  # noqa: S101 - the pattern matches nothing, too
            if "e" in flags[0].partition("w")[0]:
                yield "e", text[at + 1 : ends]
            if flags[1]:
                yield "w", flags[1][1:]
            at = flags.end()
        elif kind in "eaicrRwWbtTqQlLv:#":
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            if kind in "btTqQlL:":
                stop = re.compile(r"[;}\n]").search(text, at)
                end = stop.start() if stop is not None else len(text)
            if kind in "erRwW":
                yield kind, text[at:end]
            at = end
        elif kind not in "dDgGhHxnNpPFz=}{;":
            yield "?", text
            return


def _find_substitution_end(text: str, at: int) -> int | None:
    """Return where `s/a/b/` ends, given the position after the `s`."""
    if at >= len(text):
        return None
    delimiter, closed, in_class = text[at], 0, False
    at += 1
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "[" and not closed:
            in_class = True
        elif char == "]":
            in_class = False
        elif char == delimiter and not (in_class and "]" in text[at : at + 200].partition(delimiter)[0]):
            closed += 1
            if closed == 2:
                return at + 1
            in_class = False
        at += 1
    return None


def _sql(rule_input: RuleInput, code: Code) -> Iterator[ShellFinding]:
    if _SQL_RUNS.search(code.text):
        yield rule_input.ask("inline-code", "the database client can run commands or reach files")
        yield from rule_input.refusals(re.sub(r"^\s*[.\\](?:shell|system|!)", "", code.text), rule_input)
    elif _SQL.search(code.text):
        yield rule_input.ask("deletion", "it deletes data from a database")


def _vim(rule_input: RuleInput, code: Code) -> Iterator[ShellFinding]:
    if _VIM.search(code.text):
        yield rule_input.ask("inline-code", "the editor's commands can run programs")
        yield from rule_input.refusals(code.text.rpartition("!")[2], rule_input)


def _judge_opaque(rule_input: RuleInput, code: Code) -> Iterator[ShellFinding]:
    yield rule_input.ask("inline-code", "the program in it can run anything")
    yield from rule_input.refusals(code.text, rule_input)
    for line in code.text.splitlines()[:_MAX_TEXTS]:
        yield from rule_input.refusals(line.strip().lstrip("@-").removeprefix("shell ").removeprefix("!"), rule_input)
    yield from _quoted(rule_input, code.text, True)


_GDB = re.compile(
    r"(?:bt|backtrace|where|info|list|l|frame|f|up|down|run|r|start|continue|c|next|n|step|s|finish|break|b|tbreak|watch|"
    r"thread|threads|quit|q|kill|x/\w+|set (?:pagination|confirm|logging|print)|thread apply all bt|bt full)"
    r"(?: [\w$*.:/-]+)*"
)


def _gdb(rule_input: RuleInput, code: Code) -> Iterator[ShellFinding]:
    if _GDB.fullmatch(code.text.strip()) is None:
        yield from _judge_opaque(rule_input, code)


def _jq(rule_input: RuleInput, code: Code) -> Iterator[ShellFinding]:
    if re.search(r"(^|[\s|(,\[{])(env\b|\$ENV\b)", code.text):
        yield rule_input.ask("environment-dump", "it prints the environment, which may hold secrets")


_SPECIAL = {
    "awk": _awk,
    "sed": _sed,
    "sql": _sql,
    "sqlite": _sql,
    "vim": _vim,
    "jq": _jq,
    "gdb": _gdb,
    **dict.fromkeys(("make", "tcl", "lisp", "scheme", "powershell", "applescript"), _judge_opaque),
}
