"""The German of questions for leave, of answers to them, and of the rules they rest on."""

from collections.abc import Mapping

OF_QUESTIONS: Mapping[str, str] = {
    "{tool} needs your leave: {reason}.": "{tool} braucht deine Erlaubnis: {reason}.",
    "For {who}.": "Für {who}.",
    "In {directory}.": "In {directory}.",
    "Its programs may find other files in {directory} than now: there are too many to be held until you answer.": (
        "Seine Programme finden in {directory} vielleicht andere Dateien als jetzt: Es sind zu viele, um sie bis zu "
        "deiner Antwort festzuhalten."
    ),
    "arguments:": "Argumente:",
    "It would run:": "Ausgeführt würde:",
    "which would change:": "was sich dann änderte:",
    "{name} ({count} characters):": "{name} ({count} Zeichen):",
    "that is {name}": "das ist {name}",
    "Answer with approve:{id} or deny:{id}.": "Antworte mit approve:{id} oder deny:{id}.",
    "[… {left} of {all} characters are not shown here; `hob approvals show {id}` shows all …]": (
        "[… {left} von {all} Zeichen stehen hier nicht; `hob approvals show {id}` zeigt alle …]"
    ),
}

OF_ANSWERS: Mapping[str, str] = {
    "only the owner answers that": "das beantwortet nur der Besitzer",
    "{channel} does not prove who writes; answer where Hob knows you": (
        "{channel} beweist nicht, wer schreibt; antworte dort, wo Hob dich kennt"
    ),
    "this token is good for one chat only, and not for leave": (
        "dieses Token gilt nur für einen Chat und nicht für eine Erlaubnis"
    ),
    "that is not what you wrote yourself": "das hast du nicht selbst geschrieben",
    "This is leave for one time only: {rule}": "Diese Erlaubnis gilt nur für dieses eine Mal: {rule}",
    "There is no question {id}; `hob approvals` lists those that are open.": (
        "Eine Frage {id} gibt es nicht; `hob approvals` zählt die offenen auf."
    ),
    "Say which question you mean: approve:ID or deny:ID; `hob approvals` lists those that are open.": (
        "Sag, welche Frage du meinst: approve:ID oder deny:ID; `hob approvals` zählt die offenen auf."
    ),
    "It is too long to be approved in a chat; `hob approvals show {id}`, then `hob approvals allow {id}`.": (
        "Das ist zu lang, um es im Chat zu erlauben; `hob approvals show {id}`, dann `hob approvals allow {id}`."
    ),
    "{id} was answered with yes already.": "{id} wurde schon mit Ja beantwortet.",
    "{id} was answered with no already.": "{id} wurde schon mit Nein beantwortet.",
    "{id} is void.": "{id} gilt nicht mehr.",
    "{id} is void ({why}).": "{id} gilt nicht mehr ({why}).",
    "{id} was answered with yes, and it is done.": "{id} wurde mit Ja beantwortet, und es ist getan.",
    "{id} is open.": "{id} ist offen.",
    "nobody answered in time": "niemand hat rechtzeitig geantwortet",
    "it was given for somebody else": "sie wurde für jemand anderen gegeben",
    "what it was bound to was erased": "woran sie gebunden war, wurde gelöscht",
    "the directory is another": "das Verzeichnis ist ein anderes",
    "a program or script has changed since": "ein Programm oder Skript hat sich seither geändert",
}

OF_RULES: Mapping[str, str] = {
    "What is the owner's is not read where others see the answer.": (
        "Was dem Besitzer gehört, wird nicht gelesen, wo andere die Antwort sehen."
    ),
    "A command without a sandbox is asked about, each time.": "Nach einem Befehl ohne Sandbox wird jedes Mal gefragt.",
    "The tool's tier is above that of the sender.": "Die Stufe des Werkzeugs liegt über der des Absenders.",
    "What is the owner's is neither read nor changed for others.": (
        "Was dem Besitzer gehört, wird für andere weder gelesen noch geändert."
    ),
    "A turn that has read what others wrote changes no settings without leave.": (
        "Wo gelesen wurde, was andere geschrieben haben, ändert sich ohne Erlaubnis keine Einstellung."
    ),
    "What later turns obey is not written in a turn that has read what others wrote.": (
        "Was spätere Runden befolgen, wird nicht geschrieben, wo gelesen wurde, was andere geschrieben haben."
    ),
    "A risky command in a turn that has read what others wrote needs leave.": (
        "Ein riskanter Befehl braucht Erlaubnis, wo gelesen wurde, was andere geschrieben haben."
    ),
    "Files that usually hold keys are not touched in a turn that has read what others wrote.": (
        "Dateien mit Schlüsseln werden nicht angefasst, wo gelesen wurde, was andere geschrieben haben."
    ),
    "A command with network in a turn that has read what others wrote needs leave.": (
        "Ein Befehl mit Netz braucht Erlaubnis, wo gelesen wurde, was andere geschrieben haben."
    ),
    "A command with network needs leave where turns that had read what others wrote changed files.": (
        "Ein Befehl mit Netz braucht Erlaubnis, wo etwas geschrieben wurde, nachdem anderes von anderen gelesen war."
    ),
    "What cannot be undone needs leave, unless the owner's words name the file, or whom it goes to.": (
        "Was sich nicht rückgängig machen lässt, braucht Erlaubnis, wenn der Besitzer Datei oder Empfänger nicht nennt."
    ),
    "An address that neither the owner nor the search provider gave is asked about.": (
        "Nach einer Adresse, die weder vom Besitzer noch aus der Suche stammt, wird gefragt."
    ),
    "What could send data out needs leave, unless the owner's words name where to.": (
        "Was Daten hinausschicken könnte, braucht Erlaubnis, wenn der Besitzer nicht nennt, wohin."
    ),
    "What is private is not sent along unless the owner's words asked for it.": (
        "Privates wird nicht mitgeschickt, wenn der Besitzer es nicht verlangt hat."
    ),
}
"""Of the rules that ask; what is refused is told to models, in English."""
