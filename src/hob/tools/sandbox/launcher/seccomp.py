"""A seccomp filter: the kernel refuses system calls that sandboxed commands have no use for.

The filter is classic BPF over `struct seccomp_data`
(https://www.kernel.org/doc/html/latest/userspace-api/seccomp_filter.html), written here as data. It lists what is
refused, so that unforeseen programs keep working: the namespaces (or Landlock) are the walls, and the filter closes
gaps in them. A refused call returns EPERM, or ENOSYS if programs have a fallback; a call of a foreign architecture
kills the process, because its numbers mean something else.
"""

import errno
import platform
import struct
from collections.abc import Iterable, Mapping, Sequence

from hob.core.values import dataclass

# https://github.com/torvalds/linux/blob/master/include/uapi/linux/bpf_common.h, seccomp.h and audit.h
_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_ALLOW, _ERRNO, _KILL, _ASK = 0x7FFF_0000, 0x0005_0000, 0x8000_0000, 0x7FC0_0000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32 = 0x4000_0000
_INSTRUCTION = struct.Struct("=HBBI")

Program = list[tuple[int, int, int, int]]

# Numbers by name: on x86-64, and on architectures with the generic table (arm64, riscv64); -1 if there is none.
# arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h
_CALLS: Mapping[str, tuple[int, int]] = {
    "accept": (43, 202),
    "accept4": (288, 242),
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bind": (49, 200),
    "bpf": (321, 280),
    "chmod": (90, -1),
    "chown": (92, -1),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "connect": (42, 203),
    "creat": (85, -1),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "file_setattr": (469, 469),
    "finit_module": (313, 273),
    "fremovexattr": (199, 16),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fsetxattr": (190, 7),
    "fspick": (433, 433),
    "futimesat": (261, -1),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, -1),
    "iopl": (172, -1),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "kill": (62, 129),
    "lchown": (94, -1),
    "listen": (50, 201),
    "lookup_dcookie": (212, 18),
    "lremovexattr": (198, 15),
    "lsetxattr": (189, 6),
    "modify_ldt": (154, -1),
    "mknod": (133, -1),
    "mknodat": (259, 33),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "nfsservctl": (180, 42),
    "open": (2, -1),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "openat": (257, 56),
    "openat2": (437, 437),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "removexattr": (197, 14),
    "removexattrat": (466, 466),
    "request_key": (249, 218),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "seccomp": (317, 277),
    "sendto": (44, 206),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "setxattr": (188, 5),
    "setxattrat": (463, 463),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "sysfs": (139, -1),
    "syslog": (103, 116),
    "tgkill": (234, 131),
    "tkill": (200, 130),
    "truncate": (76, 45),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "uselib": (134, -1),
    "userfaultfd": (323, 282),
    "ustat": (136, -1),
    "utime": (132, -1),
    "utimensat": (280, 88),
    "utimes": (235, -1),
    "vhangup": (153, 58),
}

_REFUSED = (
    *("mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree", "open_tree_attr", "move_mount"),
    *("fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "open_by_handle_at", "fanotify_init"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd"),
    *("keyctl", "add_key", "request_key", "bpf", "perf_event_open", "userfaultfd", "lookup_dcookie", "syslog"),
    *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "swapon", "swapoff"),
    *("acct", "quotactl", "quotactl_fd", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex"),
    *("sethostname", "setdomainname", "vhangup", "nfsservctl"),
    *("iopl", "ioperm", "modify_ldt", "uselib", "sysfs", "ustat"),
)
# callers fall back to older calls
_MISSING = ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "openat2")
SUPERVISED_CALLS = ("chmod", "fchmod", "fchmodat", "fchmodat2", "utimensat")
"""Calls that the launcher may perform on behalf of the command (see `syscall_supervisor`)."""
_OF_OWNERS = ("chown", "fchown", "fchownat", "lchown", "file_setattr")
_OLD_TIMES = ("utime", "utimes", "futimesat")  # libraries implement them with utimensat
_ATTRIBUTES = (
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat"),
    *("removexattr", "lremovexattr", "fremovexattr", "removexattrat"),
)
_NEW_NAMESPACES = (0x2000_0000, 0x1000_0000, 0x4000_0000, 0x0002_0000, 0x0800_0000, 0x0400_0000, 0x0200_0000)
SET_IDS = 0o6000
_MODES = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2}  # index of the mode argument
_NEW_MODES = {"creat": 1, "mknod": 1, "mknodat": 2}
_OPENING = {"open": (1, 2), "openat": (2, 3)}  # indexes of flags and mode
_CREATES = 0o100 | 0o20000000  # O_CREAT, __O_TMPFILE: without them the mode is ignored
_TERMINAL_TRICKS = (0x5412, 0x541C)  # TIOCSTI types in place of the person at the terminal, TIOCLINUX pastes
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _SEQPACKET = 1, 5


@dataclass(frozen=True, slots=True)
class Architecture:
    """A machine with known system calls. `generic` selects the column of numbers."""

    audit: int
    generic: bool

    def number(self, name: str) -> int:
        """Return the call's number, -1 if this machine does not have it."""
        return _CALLS[name][self.generic]


ARCHITECTURES: Mapping[str, Architecture] = {
    "x86_64": Architecture(0xC000_003E, generic=False),
    "aarch64": Architecture(0xC000_00B7, generic=True),
    "riscv64": Architecture(0xC000_00F3, generic=True),
}


def find_architecture() -> Architecture | None:
    """Return this machine's architecture, or None if there is no filter for it."""
    return ARCHITECTURES.get(platform.machine())


@dataclass(frozen=True, slots=True)
class FilterRules:
    """Refusals in addition to the list above.

    If `sockets` is false, every socket that can reach another process is refused, in place of a network namespace. If
    `truncate` is false, truncate(2) is refused, which old versions of Landlock do not control. `spared` are processes
    that must not be signalled, in place of a process namespace. If `metadata` is false, changing a file's owner, mode,
    times and attributes is refused, which no version of Landlock controls; with `supervised`, the filter's listener is
    asked about modes and times.
    """

    sockets: bool = True
    truncate: bool = True
    spared: tuple[int, ...] = ()
    metadata: bool = True
    supervised: bool = False


def compile_filter(rules: FilterRules, machine: Architecture) -> bytes:
    """Compile to the kernel's form: an array of `struct sock_filter`."""
    program: Program = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, machine.audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if not machine.generic:
        program += [(_AT_LEAST, 0, 1, _X32), _refuse(errno.ENOSYS)]
    for name in _REFUSED:
        program += _for_call(machine, name, [_refuse(errno.EPERM)])
    for name in _MISSING:
        program += _for_call(machine, name, [_refuse(errno.ENOSYS)])
    program += _for_call(machine, "ioctl", _refuse_values(1, _TERMINAL_TRICKS))
    program += _for_call(machine, "clone", _refuse_bits(0, sum(_NEW_NAMESPACES)))
    program += _sockets(machine) if rules.sockets else _no_sockets(machine)
    if not rules.truncate:
        program += _for_call(machine, "truncate", [_refuse(errno.EPERM)])
    program += _no_set_ids(machine)
    if rules.metadata:
        for name, argument in _MODES.items():
            program += _for_call(machine, name, _refuse_bits(argument, SET_IDS))
    else:
        program += _no_metadata(machine, supervised=rules.supervised)
    if rules.spared:
        program += _protect_processes(machine, rules.spared)
    program.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(_INSTRUCTION.pack(code, yes, no, value) for code, yes, no, value in program)


def _sockets(machine: Architecture) -> Program:
    """Allow local and internet sockets and routing queries. Not all rarer families are confined to a namespace."""
    routes = [
        (_EQUAL, 0, 3, _NETLINK),
        (_LOAD, 0, 0, _low_offset(2)),
        (_EQUAL, 0, 1, 0),
        (_RETURN, 0, 0, _ALLOW),
        _refuse(errno.EAFNOSUPPORT),
    ]
    families = _jump_to_allow((_UNIX, _INET, _INET6))
    return _for_call(machine, "socket", [(_LOAD, 0, 0, _low_offset(0)), *families, *routes])


def _no_sockets(machine: Architecture) -> Program:
    """Allow only connected socket pairs. A datagram pair could still send to any path, so it is refused."""
    program: Program = []
    for name in ("socket", "connect", "bind", "listen", "accept", "accept4"):
        program += _for_call(machine, name, [_refuse(errno.EPERM)])
    kinds = [
        (_LOAD, 0, 0, _low_offset(1)),
        (_AND, 0, 0, 0xF),
        *_jump_to_allow((_STREAM, _SEQPACKET)),
        _refuse(errno.EPERM),
    ]
    program += _for_call(machine, "socketpair", kinds)
    unaddressed: Program = [
        (_LOAD, 0, 0, _low_offset(4)),
        (_EQUAL, 0, 3, 0),
        (_LOAD, 0, 0, _low_offset(4) + 4),
        (_EQUAL, 0, 1, 0),
        (_RETURN, 0, 0, _ALLOW),
        _refuse(errno.EPERM),
    ]
    return program + _for_call(machine, "sendto", unaddressed)


def _no_set_ids(machine: Architecture) -> Program:
    """Refuse set-user-ID and set-group-ID files, which would have the owner's rights outside the sandbox."""
    program: Program = []
    for name, argument in _NEW_MODES.items():
        program += _for_call(machine, name, _refuse_bits(argument, SET_IDS))
    for name, (flags, mode) in _OPENING.items():
        makes = [(_LOAD, 0, 0, _low_offset(flags)), (_AND, 0, 0, _CREATES), (_EQUAL, 0, 1, 0), (_RETURN, 0, 0, _ALLOW)]
        program += _for_call(machine, name, [*makes, *_refuse_bits(mode, SET_IDS)])
    return program


def _no_metadata(machine: Architecture, *, supervised: bool) -> Program:
    refused = _refuse(errno.EPERM)
    program: Program = []
    for name in SUPERVISED_CALLS:
        program += _for_call(machine, name, [(_RETURN, 0, 0, _ASK) if supervised else refused])
    for name in (*_OF_OWNERS, *_OLD_TIMES):
        program += _for_call(machine, name, [refused])
    for name in _ATTRIBUTES:  # as on a file system without attributes, which programs that copy files can handle
        program += _for_call(machine, name, [_refuse(errno.EOPNOTSUPP)])
    return program


def _protect_processes(machine: Architecture, spared: Sequence[int]) -> Program:
    """Refuse signals to these processes, to their groups, and to everybody."""
    targets = sorted({1, 0xFFFF_FFFF} | set(spared) | {-pid & 0xFFFF_FFFF for pid in spared})
    program: Program = []
    for name in ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open"):
        program += _for_call(machine, name, _refuse_values(0, targets))
    return program + _for_call(machine, "tkill", [_refuse(errno.EPERM)])  # it can name any thread of any process


def _low_offset(argument: int) -> int:
    """Return the offset of the lower half of an argument; every supported machine is little-endian."""
    return _ARGUMENTS + 8 * argument


def _refuse(number: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _ERRNO | number)


def _for_call(machine: Architecture, name: str, body: Program) -> Program:
    """Apply the body to this call only. Every path through a body must end in a verdict."""
    number = machine.number(name)
    return [] if number < 0 else [(_EQUAL, 0, len(body), number), *body]


def _jump_to_allow(values: Iterable[int]) -> Program:
    program: Program = []
    for value in values:
        program += [(_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]
    return program


def _refuse_values(argument: int, values: Iterable[int]) -> Program:
    """Refuse if the lower half of the argument, which is all the kernel uses in these calls, is one of the values."""
    program: Program = [(_LOAD, 0, 0, _low_offset(argument))]
    for value in values:
        program += [(_EQUAL, 0, 1, value), _refuse(errno.EPERM)]
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def _refuse_bits(argument: int, bits: int) -> Program:
    """Refuse if the argument has any of the bits."""
    return [
        (_LOAD, 0, 0, _low_offset(argument)),
        (_AND, 0, 0, bits),
        (_EQUAL, 0, 1, 0),
        (_RETURN, 0, 0, _ALLOW),
        _refuse(errno.EPERM),
    ]
