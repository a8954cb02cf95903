"""The German of what setting up says in English: each English sentence with its own."""

from collections.abc import Mapping

STEPS: Mapping[str, str] = {
    "model": "Modell",
    "workspace": "Ordner",
    "name": "Name",
    "identity": "Dateien",
    "language": "Sprache",
    "commands": "Befehle",
    "network": "Netz",
    "budget": "Budget",
    "service": "Dienst",
}

_QUESTIONS: Mapping[str, str] = {
    "{question} (arrow keys or a number, then Enter)": "{question} (Pfeiltasten oder eine Zahl, dann Enter)",
    "{question} (it is not shown while you type or paste): ": "{question} (beim Tippen oder Einfügen unsichtbar): ",
    "1-{most}, Enter for >: ": "1-{most}, Enter für >: ",
    "A number from 1 to {most}, please.": "Bitte eine Zahl von 1 bis {most}.",
    "Yes": "Ja",
    "No": "Nein",
    "no command can run yet": "noch kann kein Befehl laufen",
    "confined by {backend}": "eingeschlossen von {backend}",
    "Which model shall think for Hob?": "Welches Modell soll für Hob denken?",
    "Keep {model}": "Behalten: {model}",
    "Another provider: enter a key": "Ein anderer Anbieter: Schlüssel eingeben",
    "A server of your own that speaks OpenAI chat completions": (
        "Ein eigener Server, der OpenAI chat completions spricht"
    ),
    "Look again: I have started Ollama, or another local server": (
        "Noch einmal nachsehen: Ich habe Ollama oder einen anderen lokalen Server gestartet"
    ),
    "Not now": "Jetzt nicht",
    "Which model of {provider}?": "Welches Modell von {provider}?",
    "Which model?": "Welches Modell?",
    "Whose key do you have?": "Von wem hast du einen Schlüssel?",
    "A key of yours is made at {page}": "Einen Schlüssel gibt es unter {page}",
    "The key, empty to go back": "Der Schlüssel, leer für zurück",
    "Its address, e.g. http://127.0.0.1:8000/v1, empty to go back": (
        "Seine Adresse, z. B. http://127.0.0.1:8000/v1, leer für zurück"
    ),
    "Its key, empty for none": "Sein Schlüssel, leer für keinen",
    "The model's name": "Name des Modells",
    "Use it all the same?": "Trotzdem nehmen?",
    "Where shall the key be kept?": "Wo soll der Schlüssel liegen?",
    "In a file that only you can read (secrets/ in Hob's home)": (
        "In einer Datei, die nur du lesen kannst (secrets/ in Hobs Verzeichnis)"
    ),
    "In the system's keyring": "Im Schlüsselbund des Systems",
    "Only in {variable}: every shell and service that starts Hob must set it": (
        "Nur in {variable}: jede Shell und jeder Dienst, der Hob startet, muss die Variable setzen"
    ),
    "What may Hob call you?": "Wie darf Hob dich nennen?",
    "What may Hob call you? (Enter for no name)": "Wie darf Hob dich nennen? (Enter für keinen Namen)",
    "Have you read them? Accept them?": "Hast du sie gelesen? Sollen sie gelten?",
    "Hob answers in the language you write. And its own notes?": (
        "Hob antwortet in der Sprache, in der du schreibst. Und seine eigenen Hinweise?"
    ),
    "Commands have no network. May they fetch packages (PyPI, npm, ...)?": (
        "Befehle haben kein Netz. Dürfen sie Pakete holen (PyPI, npm, ...)?"
    ),
    "Dollars that Hob may spend a month (Enter for no limit)": (
        "Dollar, die Hob im Monat ausgeben darf (Enter für keine Grenze)"
    ),
    "Dollars a month (0 for no limit)": "Dollar im Monat (0 für keine Grenze)",
    "Shall Hob run in the background, from now on and after each start?": (
        "Soll Hob im Hintergrund laufen, ab jetzt und nach jedem Start?"
    ),
    "The service does not see this terminal's variables. Write the key into its file (0600)?": (
        "Der Dienst sieht die Variablen dieses Terminals nicht. Den Schlüssel in seine Datei schreiben (0600)?"
    ),
}

_ON_THE_WAY: Mapping[str, str] = {
    "Hello. Hob needs a model to think with, and there is none yet.": (
        "Hallo. Hob braucht ein Modell zum Denken, und es gibt noch keines."
    ),
    "Looking at what is here ...": "Ich sehe nach, was es hier gibt ...",
    "No key in the environment, no server that runs here, no CLI.": (
        "Kein Schlüssel in der Umgebung, kein Server, der hier läuft, kein CLI."
    ),
    "Asking {model} for a word and a tool call ...": "Ich frage {model} nach einem Wort und einem Werkzeugaufruf ...",
    "it": "es",
    "✗ {trouble}": "✗ {trouble}",
    "✗ a key is one line without spaces": "✗ ein Schlüssel ist eine Zeile ohne Leerzeichen",
    "✗ the server does not tell which models it has, so it needs a name": (
        "✗ der Server sagt nicht, welche Modelle er hat, darum braucht es einen Namen"
    ),
    "✗ a number of dollars, such as 20": "✗ eine Zahl von Dollar, zum Beispiel 20",
    "an address is needed": "es braucht eine Adresse",
    "Nothing was written. Put that right and choose it again, or choose another one.": (
        "Nichts wurde geschrieben. Bring das in Ordnung und wähle noch einmal, oder wähle ein anderes."
    ),
    "It can talk, but not act for you: files, commands and memory need tool calls.": (
        "Es kann reden, aber nicht für dich handeln: Dateien, Befehle und Gedächtnis brauchen Werkzeugaufrufe."
    ),
    "Changed since you accepted them, and therefore not obeyed: {names} in {folder}": (
        "Geändert, seit du sie akzeptiert hast, und darum nicht befolgt: {names} in {folder}"
    ),
    "Left. What is done stays; `hob onboard` goes on.": (
        "Abgebrochen. Was getan ist, bleibt; mit `hob onboard` geht es weiter."
    ),
    "Settings: {file}. Say hello: hob": "Einstellungen: {file}. Sag hallo: hob",
    "Not all went well. `hob onboard` goes on; `hob doctor` looks for more.": (
        "Nicht alles ging gut. Mit `hob onboard` geht es weiter; `hob doctor` sucht nach mehr."
    ),
    "{assistant} is here, too ({folder}). To take it over: hob import {name}": (
        "{assistant} ist auch hier ({folder}). Zum Übernehmen: hob import {name}"
    ),
    "next: {step}": "weiter: {step}",
}

_FOUND: Mapping[str, str] = {
    "{one}, {other}": "{one}, {other}",
    "local": "lokal",
    "Your server": "Dein Server",
    "{count} models": "{count} Modelle",
    "running here": "läuft hier",
    "running here, but it has no model yet: ollama pull qwen3": (
        "läuft hier, hat aber noch kein Modell: ollama pull qwen3"
    ),
    "key in {variable}": "Schlüssel in {variable}",
    "{model}: {trial}": "{model}: {trial}",
}

_OUTCOMES: Mapping[str, str] = {
    "nothing was found that could think": "es wurde nichts gefunden, was denken könnte",
    "nothing was found that could be asked": "es wurde nichts gefunden, was sich fragen ließe",
    "no model for now: messages are kept until there is one": (
        "vorerst kein Modell: Nachrichten werden aufgehoben, bis es eines gibt"
    ),
    "not tried": "nicht ausprobiert",
    "{model}, not tried": "{model}, nicht ausprobiert",
    "answers within {seconds} s, {calls}": "antwortet in {seconds} s, {calls}",
    "calls tools": "ruft Werkzeuge auf",
    "is shown no tools": "bekommt keine Werkzeuge gezeigt",
    "{trial}, ${dollars}": "{trial}, {dollars} $",
    "{model}; but {source} outranks it": "{model}; aber {source} geht vor",
    "put that right, or name another with --model": "bring das in Ordnung, oder nenne ein anderes mit --model",
    "put that right, or name another with --model; --no-test saves it untried": (
        "bring das in Ordnung, oder nenne ein anderes mit --model; --no-test speichert es unversucht"
    ),
    "{model}; the running Hob goes on as before: {problem}": "{model}; der laufende Hob bleibt beim Alten: {problem}",
    "{model}; the running Hob took it up and asks {asked}": (
        "{model}; der Hob, der läuft, hat es übernommen und fragt {asked}"
    ),
    "`hob retry` answers what was kept while there was no model": (
        "`hob retry` beantwortet, was ohne Modell aufgehoben wurde"
    ),
    "`{command}` tries again": "`{command}` versucht es noch einmal",
    "{folder} with {files}; tools work in {work}": "{folder} mit {files}; Werkzeuge arbeiten in {work}",
    "{count} identity files": "{count} Identitätsdateien",
    "1 identity file": "1 Identitätsdatei",
    "{path} cannot be made: {reason}": "{path} lässt sich nicht anlegen: {reason}",
    "no name": "kein Name",
    "{path} is left as it is: it was changed and not accepted, or is a link": (
        "{path} bleibt, wie sie ist: sie wurde geändert und nicht akzeptiert, oder ist ein Link"
    ),
    "write `- Name: {name}` into it, then: hob accept {file}": (
        "schreib `- Name: {name}` hinein, dann: hob accept {file}"
    ),
    "{path} cannot be written: {reason}": "{path} lässt sich nicht schreiben: {reason}",
    "{name}, in {file}": "{name}, in {file}",
    "all identity files are accepted": "alle Identitätsdateien sind akzeptiert",
    "read it, then: hob accept --all": "lies sie, dann: hob accept --all",
    "read them, then: hob accept --all": "lies sie, dann: hob accept --all",
    "not accepted: {names}": "nicht akzeptiert: {names}",
    "cannot be written down: {reason}": "lässt sich nicht festhalten: {reason}",
    "cannot be accepted since not all of it is read: {names}": (
        "nicht akzeptiert, weil nicht alles davon gelesen wird: {names}"
    ),
    "accepted: {names}": "akzeptiert: {names}",
    "commands may reach {hosts}": "Befehle erreichen {hosts}",
    "commands have no network": "Befehle haben kein Netz",
    "commands may fetch packages, and reach nothing else new": (
        "Befehle dürfen Pakete holen und erreichen sonst nichts Neues"
    ),
    "commands may not fetch packages": "Befehle dürfen keine Pakete holen",
    "no limit": "keine Grenze",
    "${dollars} a month": "{dollars} $ im Monat",
    "{amount} is no limit": "{amount} ist keine Grenze",
    "nothing here starts services": "hier startet nichts Dienste",
    "not asked for": "nicht verlangt",
}

GERMAN: Mapping[str, str] = {**_QUESTIONS, **_ON_THE_WAY, **_FOUND, **_OUTCOMES}
"""By the English sentence, its placeholders unfilled."""
