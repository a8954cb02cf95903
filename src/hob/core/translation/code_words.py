"""What stored codes are called where people read them; journals and `--json` keep the codes."""

from collections.abc import Mapping

from hob.core.translation.language import translatable

STATE_WORDS: Mapping[str, str] = {
    "done": translatable("done"),
    "sent": translatable("sent"),
    "ok": translatable("ok"),
    "running": translatable("running"),
    "ready": translatable("ready"),
    "created": translatable("begun"),
    "pending": translatable("waiting"),
    "waiting": translatable("waiting"),
    "parked": translatable("held up"),
    "failed": translatable("failed"),
    "set_aside": translatable("quarantined"),
    "dead": translatable("given up"),
    "cancelled": translatable("stopped"),
}
"""States for people."""
CLASS_WORDS: Mapping[str, str] = {
    "owner": translatable("owner"),
    "member": translatable("member"),
    "stranger": translatable("stranger"),
}
"""How far somebody is trusted, by the name of the class."""
