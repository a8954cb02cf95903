"""Known sandbox escapes. What counts is the state of the world afterwards, not the command's output."""

import asyncio
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hob.core.errors import NotConfigured, ToolFailed
from hob.tools.sandbox.job import JobRoot, Window
from tests.tools.sandbox.conftest import Place

SECRET = "canary-0f9d3c"


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    """A daemon's socket, such as docker.sock, ssh-agent, D-Bus or hob.sock."""
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(str(tmp_path / "outside.sock"))
        listening.listen()
        listening.setblocking(False)
        yield listening


def visited(listening: socket.socket) -> bool:
    """Return whether anyone has connected."""
    try:
        listening.accept()[0].close()
    except BlockingIOError:
        return False
    return True


async def test_files_outside_can_neither_be_seen_nor_changed(place: Place) -> None:
    canary = place.canary
    said = await place.sh(f"cat {canary}; ls {place.outside}; echo x > {canary}; rm -rf {place.outside}")
    assert "sings" not in said
    assert canary.read_text() == "sings"


@pytest.mark.parametrize("made", ["ln -s {0} link && cat link", "ln {0} link; cat link", "cp -l {0} link; cat link"])
async def test_links_do_not_lead_outside(place: Place, made: str) -> None:
    assert "sings" not in await place.sh(made.format(place.canary))


async def test_nothing_is_written_through_a_link_in_the_work_folder(place: Place) -> None:
    (place.work / "link").symlink_to(place.canary)
    await place.sh("echo x > link; echo x >> link; truncate -s 0 link")
    assert place.canary.read_text() == "sings"


async def test_owners_files_are_not_visible(place: Place) -> None:
    said = await place.sh("ls /root /home/* /var/lib /etc/ssl/private 2>/dev/null; cat /etc/shadow 2>/dev/null")
    assert said.strip() in {"", "/home/hob:\ngo"}  # where a cache is mounted


@pytest.mark.parametrize("path", ["/usr/x", "/etc/x", "/bin/x", "/x", "/dev/x", "/var/x", "/boot/x"])
async def test_system_cannot_be_written_to(place: Place, path: str) -> None:
    finished = await place.run("sh", "-c", f"echo x > {path}")
    assert finished.status != 0
    assert not Path(path).exists()


async def test_kernel_settings_cannot_be_changed(place: Place) -> None:
    pattern = Path("/proc/sys/kernel/core_pattern")
    before = pattern.read_text()
    await place.sh("echo '|/tmp/x' > /proc/sys/kernel/core_pattern; echo b > /proc/sysrq-trigger")
    assert pattern.read_text() == before


async def test_environment_contains_no_secrets(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "HOB_GATEWAY_AUTH_TOKEN", "OTHER"):
        monkeypatch.setenv(name, SECRET)
    said = await place.sh("env; cat /proc/self/environ /proc/1/environ /proc/*/environ")
    assert SECRET not in said


@pytest.mark.parametrize("name", ["LD_PRELOAD", "SSH_AUTH_SOCK", "ANTHROPIC_API_KEY", "PATH", "HTTPS_PROXY", "A=B"])
async def test_dangerous_variables_are_refused(place: Place, name: str) -> None:
    with pytest.raises(ToolFailed):
        await place.run("true", environ={name: "x"})


async def test_no_descriptor_is_left_open(place: Place) -> None:
    code = "import os\nfor fd in range(3, 256):\n try: print(fd, os.fstat(fd))\n except OSError: pass"
    assert await place.python(code) == ""


async def test_daemon_sockets_cannot_be_reached(place: Place, listener: socket.socket) -> None:
    await place.python(f"import socket; socket.socket(socket.AF_UNIX).connect({listener.getsockname()!r})")
    assert not visited(listener)


async def test_sockets_cannot_be_reached_by_datagrams(place: Place, tmp_path: Path) -> None:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as log:
        log.bind(str(tmp_path / "log.sock"))
        log.setblocking(False)
        code = f"""
from socket import AF_UNIX, SOCK_DGRAM, socket, socketpair
for make in (lambda: socket(AF_UNIX, SOCK_DGRAM), lambda: socketpair(type=SOCK_DGRAM)[0]):
    try: make().sendto(b"x", {log.getsockname()!r})
    except (OSError, NotImplementedError): pass
"""
        await place.python(code)
        with pytest.raises(BlockingIOError):
            log.recv(10)


async def test_abstract_sockets_cannot_be_reached(place: Place) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(f"\0hob-test-{os.getpid()}")
        listening.listen()
        listening.setblocking(False)
        name = f"'\\0hob-test-{os.getpid()}'"
        await place.python(f"import socket; socket.socket(socket.AF_UNIX).connect({name})")
        assert not visited(listening)


async def test_ports_of_the_machine_cannot_be_reached(place: Place) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        listening.setblocking(False)
        await place.python(f"import socket; socket.create_connection({listening.getsockname()!r}, 2)")
        assert not visited(listening)


async def test_dns_cannot_leave_the_sandbox(place: Place) -> None:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as server:
        server.bind(("127.0.0.1", 0))
        server.setblocking(False)
        code = f"import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', {server.getsockname()!r})"
        await place.python(code)
        with pytest.raises(BlockingIOError):
            server.recv(10)


async def test_hobs_own_process_cannot_be_inspected(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", SECRET)
    inside = f"/proc/{os.getpid()}"
    said = await place.sh(
        f"cat {inside}/environ {inside}/maps; ls {inside}/fd {inside}/root {inside}/cwd; ls -l {inside}/fd"
    )
    assert SECRET not in said
    assert "socket:" not in said
    assert "python" not in said


async def test_processes_outside_cannot_be_signalled(place: Place) -> None:
    loop = asyncio.get_running_loop()
    # in its own process group, so that without a sandbox nothing else on this machine is affected
    bystander = await asyncio.create_subprocess_exec("sleep", "60", start_new_session=True)
    heard: list[int] = []
    loop.add_signal_handler(10, lambda: heard.append(10))
    try:
        script = f"kill -9 {bystander.pid}; kill -9 -{bystander.pid}; kill -10 {os.getpid()}"
        await place.sh(script)
        assert bystander.returncode is None
        assert heard == []
    finally:
        loop.remove_signal_handler(10)
        bystander.kill()
        await bystander.wait()


async def test_terminal_input_cannot_be_injected(place: Place) -> None:
    code = (
        "import fcntl, termios\ntry: fcntl.ioctl(0, termios.TIOCSTI, b'x')\nexcept OSError as error: print(error.errno)"
    )
    assert (await place.python(code, window=Window())).strip() == "1"


CALLS = {
    "ptrace": (101, 117),
    "mount": (165, 40),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "setns": (308, 268),
    "pivot_root": (155, 41),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "open_by_handle_at": (304, 265),
    "io_uring_setup": (425, 425),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "mount_setattr": (442, 442),
    "process_vm_readv": (310, 270),
    "pidfd_getfd": (438, 438),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
}


async def test_kernel_refuses_unneeded_system_calls(place: Place) -> None:
    column = 0 if os.uname().machine == "x86_64" else 1
    numbers = {name: row[column] for name, row in CALLS.items()}
    code = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for name, number in {numbers!r}.items():
    if libc.syscall(number, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() not in (1, 38): print(name, ctypes.get_errno())
"""
    assert await place.python(code) == ""


async def test_namespaces_cannot_be_created(place: Place) -> None:
    said = await place.sh("unshare -Ur true && echo made; bwrap --unshare-all --ro-bind / / true && echo made")
    assert "made" not in said


NAMESPACES = {
    "mount": 0x2_0000,
    "cgroup": 0x200_0000,
    "uts": 0x400_0000,
    "ipc": 0x800_0000,
    "user": 0x1000_0000,
    "pid": 0x2000_0000,
    "net": 0x4000_0000,
}


async def test_namespaces_cannot_be_created_by_clone(place: Place) -> None:
    """Tests the filter itself: bubblewrap's other protections return other errors, and Landlock has none."""
    number = 56 if os.uname().machine == "x86_64" else 220
    code = f"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for name, flag in {NAMESPACES!r}.items():
    flags = flag | 0x1000_0000 | 17  # with a user namespace nobody needs rights for the others; SIGCHLD
    made = libc.syscall({number}, flags, 0, 0, 0, 0)
    if made == 0: os._exit(0)
    if made > 0 or ctypes.get_errno() != 1: print(name, made, ctypes.get_errno())
"""
    assert await place.python(code) == ""


async def test_command_has_no_capabilities(wrapped: Place) -> None:
    sets = await wrapped.sh("grep Cap /proc/self/status")
    assert {line.split()[1] for line in sets.splitlines()} == {"0" * 16}
    assert len(sets.splitlines()) == 5


async def test_kernel_keys_cannot_be_listed(wrapped: Place) -> None:
    assert await wrapped.sh("cat /proc/keys /proc/key-users 2>/dev/null") == ""


@pytest.mark.parametrize("family", ["40, 1", "38, 5", "17, 3", "31, 3", "16, 3, 12", "2, 3"])  # vsock, alg, packet, …
async def test_rare_socket_families_are_refused(place: Place, family: str) -> None:
    assert "made" not in await place.python(f"import socket; socket.socket({family}); print('made')")


async def test_setuid_program_gains_nothing(place: Place) -> None:
    shutil.copy("/usr/bin/id", place.work / "id")
    (place.work / "id").chmod(0o4755)
    code = "import ctypes; print(ctypes.CDLL(None).prctl(39, 0, 0, 0, 0))"
    assert (await place.python(code)).strip() == "1"
    said = await place.sh("./id -u")
    assert said.strip() in {str(os.getuid() or 1000), str(os.getuid())}


SET_IDS = """
import ctypes, os, platform, stat
def attempt(make, *arguments, **more):
    try: return make(*arguments, **more)
    except (OSError, NotImplementedError): pass
libc, generic = ctypes.CDLL(None, use_errno=True), platform.machine() != "x86_64"
here, made = -100, os.O_CREAT | os.O_WRONLY
os.umask(0)
for bits in (0o4755, 0o2755, 0o6777):
    open("a", "w").close(); held = os.open("a", os.O_RDWR)
    attempt(os.chmod, "a", bits); attempt(os.fchmod, held, bits); attempt(os.chmod, "a", bits, follow_symlinks=False)
    libc.syscall(452, here, b"a", bits, 0)
    attempt(os.open, "b", made, bits); attempt(os.mknod, "c", bits | stat.S_IFREG)
    libc.syscall(437, here, b"d", ctypes.byref((ctypes.c_uint64 * 3)(made, bits, 0)), 24)
    if not generic: libc.syscall(2, b"e", made, bits); libc.syscall(85, b"f", bits); libc.syscall(133, b"g", bits, 0)
    unnamed = attempt(os.open, ".", os.O_TMPFILE | os.O_WRONLY, bits)
    if unnamed: attempt(os.link, f"/proc/self/fd/{unnamed}", "h", follow_symlinks=True)
os.system("install -m 4755 /bin/true i; cp /bin/true j; chmod u+s,g+s j; echo done > k; chmod 754 k; stat -c %a k")
"""


async def test_command_cannot_leave_a_setuid_file(place: Place) -> None:
    said = await place.python(SET_IDS)
    assert "754" in said.split()
    made = {each.name: each.stat().st_mode for each in place.work.iterdir() if each.is_file()}
    assert {"a", "k"} <= made.keys()
    assert [name for name, mode in made.items() if mode & 0o6000] == []


async def test_foreign_architecture_call_kills_the_program(place: Place) -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("another architecture has no int 0x80")
    code = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")  # mov eax, 20 (getpid); int 0x80; ret
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
print('came back')
"""
    assert "came back" not in await place.python(code)


async def test_root_that_became_a_link_is_refused(place: Place) -> None:
    inner = place.work / "inner"
    inner.symlink_to(place.outside)
    with pytest.raises(ToolFailed, match="symbolic link"):
        await place.run("true", roots=(JobRoot(inner, True),), folder=inner)


@pytest.mark.parametrize(
    "path", ["/", "/etc", "/proc/1", "/run/user", "/dev", "/usr", "/home", "relative", "/tmp/../etc"]
)
async def test_system_folders_are_refused_as_roots(place: Place, path: str) -> None:
    with pytest.raises(NotConfigured):
        await place.run("true", roots=(JobRoot(Path(path), True),), folder=Path(path))


@pytest.mark.parametrize("part", ["", "inside", ".."])
async def test_private_places_and_their_parents_are_refused_as_roots(place: Place, part: str) -> None:
    path = place.outside.parent if part == ".." else place.outside / part
    with pytest.raises(NotConfigured, match="private"):
        await place.run("true", roots=(JobRoot(path, False),), folder=path)


async def test_command_may_only_run_within_its_roots(place: Place) -> None:
    with pytest.raises(ToolFailed, match="not in a folder"):
        await place.run("true", folder=place.outside)


def test_system_call_numbers_match_the_kernel_headers() -> None:
    """A wrong digit would not be noticed otherwise."""
    from hob.tools.sandbox.launcher.seccomp import _CALLS

    for column, header in enumerate(("x86_64-linux-gnu/asm/unistd_64.h", "asm-generic/unistd.h")):
        path = Path("/usr/include", header)
        if not path.exists():
            pytest.skip(f"there is no {path}")
        defined = {}
        for line in path.read_text().splitlines():
            words = line.replace("__NR3264_", "__NR_").split()
            if len(words) == 3 and words[0] == "#define" and words[1].startswith("__NR_") and words[2].isdigit():
                defined[words[1].removeprefix("__NR_")] = int(words[2])
        ours = {name: row[column] for name, row in _CALLS.items() if row[column] >= 0}
        assert {name: number for name, number in ours.items() if defined.get(name, number) != number} == {}
