"""Owners, modes, times and attributes: a command can change some of them on its own files and none on others.

Landlock does not control these calls, so there the launcher makes or refuses them.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import hob
from hob.tools.sandbox.backends.landlock import landlock_version
from hob.tools.sandbox.job import JobRoot
from tests.tools.sandbox.conftest import Place, make_place

TRIES = """
import ctypes, os, platform, sys
generic = platform.machine() != "x86_64"
number = lambda x86, other: other if generic else x86
call = ctypes.CDLL(None).syscall
target = sys.argv[1]
path, here = target.encode(), -100
held = [os.open(target, os.O_PATH)]
try: held.append(os.open(target, os.O_RDONLY))
except OSError: pass
os.symlink(target, "link")
times = (ctypes.c_long * 4)(1, 0, 1, 0)
for name in (path, b"link", b"../" * 20 + path[1:], b"/proc/self/root" + path):
    if not generic:
        for old in (90, 132, 235): call(old, name, 0o666)
        for old in (92, 94): call(old, name, 65534, 65534)
        call(261, here, name, 0)
    call(number(268, 53), here, name, 0o666)
    call(452, here, name, 0o666, 0)
    call(number(280, 88), here, name, times, 0)
    call(number(280, 88), here, name, 0, 0)
    call(number(260, 54), here, name, 65534, 65534, 0)
    call(number(188, 5), name, b"user.x", b"y", 1, 0)
    call(463, here, name, 0, b"user.x", 0, 0)
for fd in held:
    call(number(91, 52), fd, 0o666)
    call(number(93, 55), fd, 65534, 65534)
    call(number(190, 7), fd, b"user.x", b"y", 1, 0)
    call(452, fd, b"", 0o666, 0x1000)
    call(number(280, 88), fd, b"", times, 0x1000)
    call(number(280, 88), fd, 0, times, 0)
    call(number(268, 53), here, b"/proc/self/fd/%d" % fd, 0o666)
os.unlink("link")
"""
WORK = """
set -e
echo 'echo ran' > s; chmod +x s; ./s
touch -d 2001-02-03 s; stat -c %Y s; stat -c %a s
cp -p s t; sed -i s/ran/again/ t; ./t
install -m 700 s u; stat -c %a u
mkdir -p d; chmod 750 d; stat -c %a d; ln -s s l; chmod 644 l; stat -c %a s
python3 -c 'import os; f = open("u"); os.fchmod(f.fileno(), 0o640); os.utime(f.fileno(), (7, 8))'; stat -c '%a %Y' u
cd d; chmod 600 ../s; stat -c %a ../s
chmod +x nowhere 2>/dev/null || echo missing
"""
DONE = "ran\n981158400\n755\nagain\n700\n750\n644\n640 8\n600\nmissing\n"


def seen(path: Path) -> tuple[object, ...]:
    """Return everything that could have been changed; the change time covers the rest."""
    found = path.stat()
    return found.st_mode, found.st_uid, found.st_mtime_ns, found.st_ctime_ns, os.listxattr(path)


async def test_metadata_of_files_outside_cannot_be_changed(place: Place) -> None:
    before = seen(place.canary)
    said = await place.run("python3", "-c", TRIES, str(place.canary))
    assert seen(place.canary) == before, said


async def test_read_only_files_keep_their_metadata(place: Place, tmp_path: Path) -> None:
    lent = tmp_path.resolve() / "lent"
    lent.mkdir()
    (lent / "file").write_text("mine")
    before = [seen(lent), seen(lent / "file")]
    for target in (lent, lent / "file"):
        finished = await place.run(
            "python3", "-c", TRIES, str(target), roots=(JobRoot(place.work, writable=True), JobRoot(lent))
        )
        assert finished.status == 0, finished.output
    assert [seen(lent), seen(lent / "file")] == before


async def test_metadata_of_the_sandboxs_own_files_can_be_changed(place: Place) -> None:
    assert await place.sh(WORK, environ={"TZ": "UTC"}) == DONE


async def test_setuid_programs_cannot_be_created(tmp_path: Path) -> None:
    place = make_place("landlock", tmp_path)
    await place.sh("cp /bin/true x; chmod 4755 x; chmod 2755 x; chmod u+s x")
    assert (place.work / "x").stat().st_mode & 0o6000 == 0


AS_NOBODY = f"""
import asyncio, os, sys
from pathlib import Path
from hob.core.clock import SystemClock
from hob.tools.sandbox.backends.detection import find_backend
from hob.tools.sandbox.job import JobRoot, Limits, SandboxJob
from hob.tools.sandbox.running_command import run
from hob.tools.sandbox.sandbox_environment import SandboxEnvironment
top = Path(sys.argv[1])
for name in ("caches", "state", "work", "keys"): (top / name).mkdir()
(top / "keys/id").write_text("key"); (top / "keys/id").chmod(0o600)
def seen():
    found = map(os.stat, (top, top / "keys", top / "keys/id"))
    return [(each.st_mode, each.st_uid, each.st_mtime_ns, each.st_ctime_ns) for each in found]
backend = find_backend("landlock", SandboxEnvironment(top / "caches", top / "state"), "").backend
def sh(*argv):
    job = SandboxJob(argv, top / "work", (JobRoot(top / "work", True),), environ={{"TZ": "UTC"}})
    return asyncio.run(run(backend, job, SystemClock(), limits=Limits())).output.decode()
before = seen()
for target in ("keys/id", "keys", ""): sh("python3", "-c", {TRIES!r}, str(top / target))
assert seen() == before, (before, seen())
assert sh("sh", "-c", {WORK!r}) == {DONE!r}
print(os.getuid(), "held")
"""


@pytest.fixture
def everybodys() -> Iterator[Path]:
    """A folder that an ordinary user can reach and write to."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name).resolve()


def test_landlock_confines_an_ordinary_user(everybodys: Path) -> None:
    """An ordinary user may not be able to reach this test's Python, so the system's is used, which may be too old."""
    reconfigure = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.geteuid() == 0 else ()
    program = "/usr/bin/python3" if reconfigure else sys.executable
    sources = str(Path(hob.__file__).parents[1])
    environ = {"PYTHONPATH": sources, "PATH": "/usr/bin:/bin", "HOME": str(everybodys)}
    tried = subprocess.run(
        [*reconfigure, program, "-c", "import hob.tools.sandbox.launcher.launch"], env=environ, check=False
    )
    if landlock_version() == 0 or tried.returncode != 0:
        pytest.skip("needs Landlock, and a Python and a checkout that an ordinary user can reach")
    done = subprocess.run(
        [*reconfigure, program, "-c", AS_NOBODY, str(everybodys)],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.endswith("held\n"), done.stderr
