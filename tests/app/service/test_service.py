"""`hob service`: real processes, and programs in the place of systemctl, loginctl, launchctl and journalctl."""

import json
import os
import plistlib
import shutil
import signal
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from hob.app.home import holder_of, own
from hob.app.logs.service_log import trim_service_log
from hob.app.service.launchd import Launchd
from hob.app.service.plan import ServicePlan, make_plan
from hob.app.service.steps import KeepFile, Run, Step, WriteFile, perform
from hob.app.service.systemd import home_in, program_in, unit_text
from hob.app.service.variables import HEAD, names_in, set_values
from tests.app.managers import put_managers

pytestmark = pytest.mark.slow

KEY = "sk-test-Zq8Lw2mxKt7Vb31"


@dataclass(frozen=True)
class Machine:
    """A user with a service manager. `fake` is where that keeps what it knows."""

    root: Path

    @property
    def fake(self) -> Path:
        return self.root / "fake"

    @property
    def home(self) -> Path:
        return self.root / "my 50% home"

    @property
    def unit(self) -> Path:
        return self.root / ".config" / "systemd" / "user" / "hob.service"

    @property
    def environ(self) -> dict[str, str]:
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(self.root), "HOB_HOME": str(self.home), "FAKE": str(self.fake)}

    def hob(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "hob", "service", *arguments]
        return subprocess.run(command, env=self.environ | more, capture_output=True, text=True, timeout=60, check=False)

    def calls(self) -> list[str]:
        """What the managers were told, and not only asked."""
        file = self.fake / "calls"
        asking = ("--version", "show-user", "show-environment", " show ", "print")
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return [line for line in lines if not any(word in line for word in asking)]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.fake.mkdir()
    put_managers(tmp_path / "bin")
    return made


def test_installing_writes_the_unit_and_starts_it_now_and_with_the_machine(machine: Machine) -> None:
    done = machine.hob("install")
    assert (done.returncode, done.stderr) == (0, "")
    user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
    assert machine.calls() == [
        "systemctl --user daemon-reload",
        f"loginctl enable-linger {user}",
        "systemctl --user enable hob.service",
        "systemctl --user start hob.service",
    ]
    assert home_in(machine.unit.read_text()) == str(machine.home)
    assert Path(program_in(machine.unit.read_text())).is_file()
    assert stat.S_IMODE((machine.home / "service.env").stat().st_mode) == 0o600
    assert "service   active (running), since Sat 2026-11-21" in done.stdout


def test_installing_again_changes_nothing(machine: Machine) -> None:
    machine.hob("install")
    before = machine.unit.stat()
    done = machine.hob("install")
    assert (done.returncode, "wrote" in done.stdout) == (0, False)
    assert machine.unit.stat() == before


def test_dry_run_shows_every_step_and_does_nothing(machine: Machine) -> None:
    done = machine.hob("install", "--dry-run", "--with-keys", OPENAI_API_KEY=KEY)
    assert done.returncode == 0
    assert f"would write {machine.unit} (0644):" in done.stdout
    assert "would run systemctl --user start hob.service" in done.stdout
    assert "OPENAI_API_KEY='…'" in done.stdout
    assert KEY not in done.stdout
    assert machine.calls() == []
    assert not machine.unit.exists()
    assert not machine.home.exists()


def test_terminals_keys_are_named_and_written_only_on_request(machine: Machine) -> None:
    told = machine.hob("install", OPENAI_API_KEY=KEY).stdout
    assert "not for the service: OPENAI_API_KEY; `hob service install --with-keys`" in told
    file = machine.home / "service.env"
    assert KEY not in file.read_text()
    file.write_text("# mine\nOPENAI_API_KEY=old\nTZ='UTC'\n")
    told = machine.hob("install", "--with-keys", OPENAI_API_KEY=KEY).stdout
    assert file.read_text() == f"# mine\nTZ='UTC'\nOPENAI_API_KEY='{KEY}'\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "`hob service restart` renews it" in told


def test_key_with_a_quote_is_left_to_the_owner(machine: Machine) -> None:
    done = machine.hob("install", "--with-keys", OPENAI_API_KEY="a'b")
    assert (done.returncode, machine.calls()) == (1, [])
    assert "OPENAI_API_KEY holds a quote" in done.stderr


def test_service_without_a_manager_writes_nothing(machine: Machine) -> None:
    (machine.fake / "no-bus").touch()
    done = machine.hob("install")
    assert done.returncode == 1
    assert "systemd does not answer for this user (Failed to connect to bus: No medium found); log in" in done.stderr
    assert not machine.unit.exists()


def test_foreign_service_file_is_kept_beside(machine: Machine) -> None:
    machine.unit.parent.mkdir(parents=True)
    machine.unit.write_text(f"[Service]\nEnvironment=OPENAI_API_KEY={KEY}\n")
    assert machine.hob("install").returncode == 0
    kept = machine.unit.with_name("hob.service.former")
    assert KEY in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_service_of_another_home_is_not_taken_over(machine: Machine) -> None:
    machine.hob("install")
    before = machine.unit.read_text()
    other = {"HOB_HOME": str(machine.root / "other")}
    assert f"for the home {machine.home}" in machine.hob("install", **other).stderr
    assert f"for the home {machine.home}" in machine.hob("uninstall", **other).stderr
    assert machine.unit.read_text() == before


def test_user_without_lingering_gets_the_command(machine: Machine) -> None:
    (machine.fake / "forbidden").touch()
    done = machine.hob("install")
    assert done.returncode == 0
    assert "it stops when you log out; `sudo loginctl enable-linger" in done.stdout
    assert "Access denied" in done.stdout


def test_service_that_does_not_start_names_its_log(machine: Machine) -> None:
    (machine.fake / "broken").touch()
    done = machine.hob("install")
    assert done.returncode == 1
    assert "It is failed (watchdog); `hob service logs` says why" in done.stderr
    shown = machine.hob("status")
    assert (shown.returncode, "failed (watchdog)" in shown.stdout) == (1, True)
    (machine.fake / "broken").unlink()
    assert machine.hob("restart").returncode == 0


def test_daemon_in_a_terminal_prevents_the_service_start(machine: Machine) -> None:
    machine.home.mkdir()
    with own(machine.home, "serve"):
        done = machine.hob("install")
    assert (done.returncode, machine.calls()) == (1, [])
    assert f"is in use by hob serve, pid {os.getpid()}" in done.stderr


def test_killed_service_manager_holds_no_lock(machine: Machine) -> None:
    assert holder_of(machine.home) == ""
    with own(machine.home, "serve"):
        assert holder_of(machine.home).startswith("hob serve, pid ")
    assert holder_of(machine.home) == ""
    (machine.home / "hob.lock").write_text("hob serve, pid 1, since yesterday\n")
    assert holder_of(machine.home) == ""


def test_uninstalling_stops_it_and_keeps_the_home(machine: Machine) -> None:
    machine.hob("install")
    machine.calls()
    done = machine.hob("uninstall")
    assert done.returncode == 0
    assert machine.calls()[0] == "systemctl --user disable --now hob.service"
    assert not machine.unit.exists()
    assert (machine.home / "service.env").exists()
    again = machine.hob("uninstall")
    assert (again.returncode, "There is no service" in again.stdout) == (0, True)


def test_status_is_available_as_json(machine: Machine) -> None:
    machine.hob("install")
    told = json.loads(machine.hob("status", "--json").stdout)
    assert {key: told[key] for key in ("manager", "home", "running", "enabled", "pid", "restarts", "lingers")} == {
        "manager": "systemd", "home": str(machine.home), "running": True, "enabled": True, "pid": 4711, "restarts": 2,
        "lingers": True,
    }  # fmt: skip


def test_logs_come_from_the_journal(machine: Machine) -> None:
    assert machine.hob("logs").returncode == 1
    machine.hob("install")
    assert machine.hob("logs", "--limit", "7").stdout == "heard: --user --unit=hob.service --lines=7\n"


# The files


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("home", ["home", 'a "b" 50% \\ $HOME'])
def test_systemd_verifies_the_unit(tmp_path: Path, home: str) -> None:
    version = subprocess.run(["systemd-analyze", "--version"], capture_output=True, text=True, check=True).stdout
    unit = tmp_path / "hob.service"
    plan = make_plan(tmp_path / home, os.environ, 30)
    unit.write_text(unit_text(plan, int(version.split()[1])))
    assert home_in(unit.read_text()) == str(tmp_path / home)
    environ = os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)}
    command = ["systemd-analyze", "--user", "verify", str(unit)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_restart_pauses_grow_if_systemd_supports_it(tmp_path: Path) -> None:
    plan = ServicePlan(("/bin/hob", "serve"), tmp_path, "/bin", 50)
    assert "RestartSteps=6" in unit_text(plan, 254)
    assert "RestartSteps" not in unit_text(plan, 253)
    assert "NoNewPrivileges" not in unit_text(ServicePlan(plan.program, tmp_path, "/bin", 50, confined=False), 254)


@pytest.mark.bubblewrap
def test_unit_hardening_leaves_bubblewrap_working() -> None:
    trial = [
        "bwrap",
        "--unshare-user",
        "--unshare-pid",
        "--unshare-net",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "true",
    ]
    confined = ["setpriv", "--no-new-privs", *trial]
    assert subprocess.run(confined, capture_output=True, check=False).returncode == (
        subprocess.run(trial, capture_output=True, check=False).returncode
    )


def test_shell_reads_variables_unchanged() -> None:
    values = {"A": "x y", "B": '$HOME "quoted" `id` #', "C": "ü"}
    text = set_values(HEAD, values)
    assert names_in(text) == set(values)
    script = f'set -a\n{text}printf "%s\\n" "$A" "$B" "$C"'
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == list(values.values())


def launchd(machine: Machine) -> tuple[Launchd, ServicePlan]:
    service_manager = Launchd(machine.environ, machine.home)
    return service_manager, make_plan(machine.home, machine.environ, 30)


def all_done(steps: tuple[Step, ...], machine: Machine) -> list[str]:
    return [told for step in steps if (told := perform(step, machine.environ))]


def test_launchd_loads_the_agent_once(machine: Machine) -> None:
    service_manager, plan = launchd(machine)
    assert service_manager.obstacle() == ""
    assert all_done(tuple(service_manager.install(plan)), machine) == [f"wrote   {service_manager.file}"]
    assert [call.split()[1] for call in machine.calls()] == ["enable", "bootstrap", "kickstart"]
    assert all_done(tuple(service_manager.install(plan)), machine) == []
    assert [call.split()[1] for call in machine.calls()] == ["enable", "kickstart"]
    state = service_manager.state()
    assert (state.running, state.pid, state.restarts, state.detail) == (True, 4711, 2, "running (last exit status 1)")
    all_done(tuple(service_manager.uninstall()), machine)
    assert not service_manager.file.exists()
    assert service_manager.state().running is False


def test_launchd_loads_a_changed_agent_again_and_keeps_a_foreign_one(machine: Machine) -> None:
    service_manager, plan = launchd(machine)
    service_manager.file.parent.mkdir(parents=True)
    service_manager.file.write_text("<plist/>")
    (machine.fake / "loaded").touch()
    steps = service_manager.install(plan)
    assert [type(step) for step in steps] == [KeepFile, WriteFile, Run, Run, Run, Run]
    all_done(tuple(steps), machine)
    assert [call.split()[1] for call in machine.calls()] == ["bootout", "enable", "bootstrap", "kickstart"]
    assert service_manager.home() == str(machine.home)
    assert Path(service_manager.program()).is_file()
    assert service_manager.is_current(plan)


def test_agent_passes_the_files_variables_to_its_program(machine: Machine) -> None:
    service_manager, _ = launchd(machine)
    machine.home.mkdir()
    plan = ServicePlan(("/usr/bin/env",), machine.home, "/usr/bin", 50)
    plan.environment_file.write_text(set_values(HEAD, {"OPENAI_API_KEY": KEY}))
    arguments = plistlib.loads(service_manager.text(plan).encode())["ProgramArguments"]
    done = subprocess.run(arguments, env={}, capture_output=True, text=True, check=True)
    assert f"OPENAI_API_KEY={KEY}" in done.stdout.splitlines()
    plan.environment_file.unlink()
    assert subprocess.run(arguments, env={}, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(("ended", "told"), [("exit 2", 0), ("exit 1", 1), ("exit 0", 0), ("kill -KILL $$", 137)])
def test_launchd_restarts_hob_except_after_invalid_settings(machine: Machine, ended: str, told: int) -> None:
    service_manager, _ = launchd(machine)
    plan = ServicePlan(("/bin/sh", "-c", ended), machine.home, "/usr/bin", 50)
    agent = plistlib.loads(service_manager.text(plan).encode())
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert subprocess.run(agent["ProgramArguments"], env={}, capture_output=True, check=False).returncode == told


@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGTERM, "TERM"), (signal.SIGINT, "TERM"), (signal.SIGHUP, "HUP")]
)
def test_agents_shell_forwards_signals_and_waits(machine: Machine, number: int, name: str) -> None:
    service_manager, _ = launchd(machine)
    script = f"trap 'echo heard; exit 5' {name}; echo ready; while :; do read line || sleep 0.01; done"
    arguments = plistlib.loads(
        service_manager.text(ServicePlan(("/bin/bash", "-c", script), machine.home, "/bin", 50)).encode()
    )
    agent = ["/usr/bin/env", "--default-signal", *arguments["ProgramArguments"]]  # a run under nohup ignores SIGHUP
    with subprocess.Popen(agent, env={}, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.stdout.read() == "heard\n"
        assert process.wait(20) == 5


def test_launchd_log_is_trimmed_while_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "service.log"
    trim_service_log(file, 1_000)
    with file.open("a", buffering=1) as writer:
        writer.writelines(f"line {n:04}\n" for n in range(200))
        trim_service_log(file, 3_000)
        assert len(file.read_text().splitlines()) == 200
        trim_service_log(file, 1_000)
        writer.write("the next\n")
    lines = file.read_text().splitlines()
    assert lines[0].startswith("line 01")
    assert lines[-2:] == ["line 0199", "the next"]
    assert file.stat().st_size <= 600
    (tmp_path / "other").symlink_to(file)
    with pytest.raises(OSError, match="symbolic"):
        trim_service_log(tmp_path / "other", 1)


def test_systemd_restarts_forever_except_after_invalid_settings(tmp_path: Path) -> None:
    lines = unit_text(ServicePlan(("/bin/hob", "serve"), tmp_path, "/bin", 50), 254).splitlines()
    assert {"Restart=on-failure", "RestartPreventExitStatus=2", "StartLimitIntervalSec=0"} <= set(lines)
    assert {"RestartSec=1", "RestartSteps=6", "RestartMaxDelaySec=60"} <= set(lines)
    assert "RestartSec=15" in unit_text(ServicePlan(("/bin/hob", "serve"), tmp_path, "/bin", 50), 253).splitlines()
