"""The German of what the guard says to people in English: each English sentence with its own."""

from collections.abc import Mapping

from hob.guard.policy.modes import ACTS
from hob.guard.wording.german_commands import OF_COMMANDS
from hob.guard.wording.german_questions import OF_ANSWERS, OF_QUESTIONS, OF_RULES

_OF_THE_POLICY: Mapping[str, str] = {
    "{reason}, and {why}": "{reason}, und {why}",
    "this turn has read what others may have written": (
        "in dieser Runde wurde gelesen, was andere geschrieben haben können"
    ),
    "this turn has read what others may have written ({what})": (
        "in dieser Runde wurde gelesen, was andere geschrieben haben können ({what})"
    ),
    "the command could send data out, and {files} may be of others: it was written after reading their words": (
        "der Befehl könnte Daten hinausschicken, und {files} kann von anderen sein: geschrieben, als sie gelesen waren"
    ),
    "{one}, {other}": "{one}, {other}",
    "what {name} wrote": "was {name} geschrieben hat",
    "a quoted or forwarded text": "zitierter oder weitergeleiteter Text",
    "an attached file": "ein Anhang",
    "{name}, not accepted": "{name}, nicht akzeptiert",
    "what {tool} gave": "was {tool} ergab",
    "{what}, with an earlier message": "{what}, bei einer früheren Nachricht",
    "the summary of what was said before": "die Zusammenfassung des früher Gesagten",
    "it would change settings": "es würde Einstellungen ändern",
    "later turns would take it for instruction": "spätere Runden würden es als Anweisung nehmen",
    "the command is a risky one": "der Befehl ist riskant",
    "{path} usually holds keys": "in {path} stehen gewöhnlich Schlüssel",
    "the command could send data out": "der Befehl könnte Daten hinausschicken",
    "what is written there leaves this machine": "was dort geschrieben wird, verlässt diesen Rechner",
    "it cannot be undone, and your own words name no such file": (
        "es lässt sich nicht rückgängig machen, und deine eigenen Worte nennen keine solche Datei"
    ),
    "{url} stands neither in your words nor in what a search gave": (
        "{url} steht weder in deinen Worten noch in den Ergebnissen einer Suche"
    ),
    "the address": "die Adresse",
    "the address would carry {what}, which your words did not ask for": (
        "die Adresse würde mittragen: {what}, was deine Worte nicht verlangt haben"
    ),
    "it could send data out, and your own words do not name where to": (
        "es könnte Daten hinausschicken, und deine eigenen Worte nennen nicht, wohin"
    ),
    "it would send out {what}, which your words did not ask for": (
        "es würde hinausschicken: {what}, was deine Worte nicht verlangt haben"
    ),
    "the file {path}": "die Datei {path}",
    "what was read from {path}": "was aus {path} gelesen wurde",
    "personal data": "persönliche Daten",
    "a passage of what you keep to yourself": "eine Stelle aus dem, was nur dir gehört",
    "something encoded": "etwas Kodiertes",
    "others read the answer, and it would show what is yours": (
        "andere lesen die Antwort mit, und sie würde zeigen, was dir gehört"
    ),
    "it would run without a sandbox, with all your rights": "es würde ohne Sandbox laufen, mit all deinen Rechten",
    "it would show somebody else what is the owner's": "es würde jemand anderem zeigen, was dir gehört",
    "somebody else would change what is the owner's": "jemand anderes würde ändern, was dir gehört",
    "it is of tier {tier}, above the {most} that goes without leave": (
        "es ist von Stufe {tier}; ohne Erlaubnis geht nur Stufe {most}"
    ),
    "it would read what the owner opened to tools": "es würde lesen, was du den Werkzeugen geöffnet hast",
    "it would fetch an address in the web, ask the search provider": (
        "es würde eine Adresse im Netz abrufen oder die Suche fragen"
    ),
    "it would write files so that it can be undone": (
        "es würde Dateien so schreiben, dass es sich rückgängig machen lässt"
    ),
    "it would run a command in the sandbox, without network, on files that are versioned": (
        "es würde einen Befehl in der Sandbox ausführen, ohne Netz, auf versionierten Dateien"
    ),
    "it would run a command that reaches hosts the owner's settings allow": (
        "es würde einen Befehl ausführen, der Rechner erreicht, die deine Einstellungen erlauben"
    ),
    "it would remember, schedule, write skills: what later turns read as instruction": (
        "es würde sich etwas merken, etwas planen oder Fähigkeiten schreiben: was spätere Runden als Anweisung lesen"
    ),
    "it would do what cannot be undone": "es würde tun, was sich nicht rückgängig machen lässt",
    "it would send something to somebody": "es würde jemandem etwas schicken",
    "it would read keys, run a command that destroys work, takes more rights or shows the environment": (
        "es würde Schlüssel lesen oder einen Befehl ausführen, der Arbeit zerstört, sich mehr Rechte "
        "nimmt oder die Umgebung zeigt"
    ),
    "it would change Hob's settings or hooks": "es würde Hobs Einstellungen oder Hooks ändern",
    "nothing here can read commands": "nichts hier kann Befehle lesen",
    "what it does depends on what was typed before": "was es tut, hängt von dem ab, was zuvor eingegeben wurde",
}

_OF_MODES = {
    f"The session's mode says whether this needs leave: it would {text}.": (
        f"Der Modus der Sitzung sagt, ob das Erlaubnis braucht: {_OF_THE_POLICY[f'it would {text}']}."
    )
    for text in ACTS.values()
}

GERMAN: Mapping[str, str] = {**_OF_THE_POLICY, **OF_COMMANDS, **OF_QUESTIONS, **OF_ANSWERS, **OF_RULES, **_OF_MODES}
"""By the English sentence, placeholders unfilled."""
