"""`hob onboard` at a terminal, in the person's language."""

import sys
from pathlib import Path

from tests.app.managers import put_managers
from tests.journeys.pty_session import ENTER, open_terminal
from tests.journeys.world import World


async def test_onboarding_is_german_in_a_german_terminal(world: World) -> None:
    put_managers(world.root / "bin")  # the tester's services are not touched
    path = f"{world.root / 'bin'}:{Path(sys.executable).parent}:/usr/bin:/bin"
    environ = world.environ(LC_ALL="de_DE.UTF-8", PATH=path, FAKE=str(world.root))
    del environ["HOB_MODEL_NAME"]
    async with open_terminal([sys.executable, "-m", "hob", "onboard"], environ, rows=60) as terminal:
        await terminal.see("Ich sehe nach, was es hier gibt", "✓ Dein Server", "Schlüssel in")
        await terminal.see(
            "Welches Modell soll für Hob denken? (Pfeiltasten oder eine Zahl, dann Enter)", "Jetzt nicht"
        )
        terminal.type(ENTER)
        questions = ("Wo soll der Schlüssel liegen?", "Wie darf Hob dich nennen?", "In welcher Sprache")
        more = ("Dürfen sie Pakete holen", "Welchen Suchdienst soll Hob nutzen?", "Dollar, die Hob")
        for words in (*questions, *more, "Soll Hob im Hintergrund laufen"):
            await terminal.see(words)
            terminal.type(ENTER)
        await terminal.see(
            "✓ Sprache    Deutsch",
            "antwortet in",
            "✓ Budget     keine Grenze",
            "Einstellungen: ",
            "`hob` öffnet den Chat.",
        )
        assert await terminal.ended() == 0
    assert (await world.hob("config", "get", "agent.language")).out.strip() == "de"
