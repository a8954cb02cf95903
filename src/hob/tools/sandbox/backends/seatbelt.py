"""macOS sandbox-exec: one profile per command. Deprecated by Apple, but without a replacement.

The language is that of the profiles in /System/Library/Sandbox/Profiles; later rules win.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar

from hob.core.translation.language import translatable
from hob.tools.sandbox.backends.plain import SupervisedBackend
from hob.tools.sandbox.job import JobRoot, SandboxJob
from hob.tools.sandbox.launcher.launcher import Launch
from hob.tools.sandbox.launcher.supervised import supervise
from hob.tools.sandbox.roots import effective_roots
from hob.tools.sandbox.sandbox_environment import make_scratch

_PROGRAM = "/usr/bin/sandbox-exec"
_READ = (
    *("/usr", "/bin", "/sbin", "/System", "/Library/Apple", "/Library/Developer", "/Library/Frameworks"),
    *("/private/etc/ssl", "/private/etc/localtime", "/private/var/db/timezone", "/private/var/db/dyld"),
    *("/private/var/select", "/Applications/Xcode.app", "/opt/homebrew"),
    *("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"),
)
_WRITE = ("/dev/null", "/dev/zero", "/dev/tty")
_BASE = """(version 1)
(deny default)
(allow process-fork process-exec)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-ioctl (regex #"^/dev/tty"))
(allow pseudo-tty)
(allow ipc-posix-sem)
"""


class Seatbelt(SupervisedBackend):
    """Runs commands under a profile."""

    name: ClassVar[str] = "sandbox-exec"
    network_refusal = translatable("Commands have no network under sandbox-exec.")

    def launch(self, job: SandboxJob, before: ExitStack, after: ExitStack) -> Launch:
        around = self.sandbox_environment
        scratch = make_scratch(around.state, after)
        own = around.environ_of(job, scratch.home)
        own["TMPDIR"] = str(scratch.temporary)
        written = (JobRoot(scratch.home, writable=True), JobRoot(scratch.temporary, writable=True))
        roots = (*effective_roots(job), *written, *map(JobRoot, around.tools.folders))
        text = profile(roots, around.protected, job.hidden)
        return supervise(job, around.limits, own, before, after, prefix=(_PROGRAM, "-p", text))


def profile(roots: Sequence[JobRoot], protected: Sequence[str], hidden: Sequence[Path] = ()) -> str:
    """Return the profile, which allows reading the system and what the roots allow, but no network."""
    closed = "".join(f"\n(deny file-read-data file-write* (literal {_quoted(path)}))" for path in hidden)
    return _BASE + "\n".join(_rules(roots, protected)) + closed + "\n(deny file-write-setugid)\n(deny network*)\n"


def _rules(roots: Sequence[JobRoot], protected: Sequence[str]) -> Iterator[str]:
    for place in _READ:
        yield f"(allow file-read* (subpath {_quoted(place)}))"
    for place in _WRITE:
        yield f"(allow file-write-data (literal {_quoted(place)}))"
    for root in roots:
        yield f"(allow file-read* (subpath {_quoted(root.path)}))"
        if root.writable:
            yield f"(allow file-write* (subpath {_quoted(root.path)}))"
    for root in roots:
        for name in protected if root.writable else ():
            yield f"(deny file-write* (subpath {_quoted(root.path / name)}))"
            parent = (root.path / name).parent
            if parent != root.path:
                yield f"(deny file-write-unlink (literal {_quoted(parent)}))"


def _quoted(path: Path | str) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
