"""The German of what is said about commands."""

from collections.abc import Mapping

_PLACES: Mapping[str, str] = {
    "the root of the file system": "die Wurzel des Dateisystems",
    "a system directory": "ein Verzeichnis des Systems",
    "a home directory": "ein Home-Verzeichnis",
    "a directory above the workspace": "ein Verzeichnis über dem Arbeitsbereich",
    "the whole workspace": "der gesamte Arbeitsbereich",
    "version control's own files": "die eigenen Dateien der Versionsverwaltung",
    "a build output": "ein Ergebnis des Bauens",
    "the workspace": "der Arbeitsbereich",
    "a temporary file": "eine temporäre Datei",
    "a device": "ein Gerät",
    "no file": "keine Datei",
    "a control file of the kernel": "eine Steuerdatei des Kernels",
    "outside of the workspace": "außerhalb des Arbeitsbereichs",
    "a place that is not known": "eine unbekannte Stelle",
}

_WRITTEN: Mapping[str, str] = {
    "it is too long to be read": "es ist zu lang, um gelesen zu werden",
    "another reader finds {name} in it": "ein anderer Leser findet {name} darin",
    "there is too much in it to follow": "es steckt zu viel darin, um ihm zu folgen",
    "it holds {kind}": "es enthält {kind}",
    "unusual blanks": "ungewöhnliche Leerzeichen",
    "control characters": "Steuerzeichen",
    "half characters": "halbe Zeichen",
    "characters that are not shown": "Zeichen, die man nicht sieht",
    "{word} stands where a command should": "{word} steht, wo ein Befehl stehen sollte",
    "{word} stands where a word should": "{word} steht, wo ein Wort stehen sollte",
    "{word} is missing": "{word} fehlt",
    "do is missing": "do fehlt",
    "in is missing": "in fehlt",
    "]] is missing": "]] fehlt",
    "a command is missing": "ein Befehl fehlt",
    "a command is missing before {word}": "vor {word} fehlt ein Befehl",
    "a command is missing after coproc": "nach coproc fehlt ein Befehl",
    "a parenthesis is not opened": "eine Klammer wird nicht geöffnet",
    "a parenthesis is not closed": "eine Klammer wird nicht geschlossen",
    "parentheses do not match": "Klammern passen nicht zusammen",
    "a redirection leads nowhere": "eine Umleitung führt nirgendwohin",
    "a here-document does not begin": "ein Here-Dokument beginnt nicht",
    "a here-document has no end": "ein Here-Dokument hat kein Ende",
    "a loop has no variable": "eine Schleife hat keine Variable",
    "an index runs something": "ein Index führt etwas aus",
    "an index in it runs a command": "ein Index darin führt einen Befehl aus",
    "a separator between two commands is missing": "zwischen zwei Befehlen fehlt ein Trennzeichen",
    "a function has no name": "eine Funktion hat keinen Namen",
    "a pattern is not closed": "ein Muster wird nicht geschlossen",
    "it is nested too deeply": "es ist zu tief verschachtelt",
    "a quote is not closed": "ein Anführungszeichen wird nicht geschlossen",
    "a double quote is not closed": "ein doppeltes Anführungszeichen wird nicht geschlossen",
    "a backquote is not closed": "ein Backtick wird nicht geschlossen",
    "a brace is not closed": "eine geschweifte Klammer wird nicht geschlossen",
    "arithmetic is not closed": "eine Rechnung wird nicht geschlossen",
    "an expansion is not understood": "eine Ersetzung wird nicht verstanden",
    "shells do not agree where this quote ends": "Shells sind sich nicht einig, wo dieses Anführungszeichen endet",
    "text that is not known runs as commands": "unbekannter Text läuft als Befehl",
}

_CODE: Mapping[str, str] = {
    "the program in it can run anything": "das Programm darin kann alles Mögliche ausführen",
    "{text} in it can run anything": "{text} darin kann alles Mögliche ausführen",
    "the program in it can delete or move files": "das Programm darin kann Dateien löschen oder verschieben",
    "the program in it talks to other computers": "das Programm darin spricht mit anderen Rechnern",
    "the program in it reads the environment, which may hold secrets": (
        "das Programm darin liest die Umgebung, in der Geheimnisse stehen können"
    ),
    "the program in it reaches for {name}": "das Programm darin greift nach {name}",
    "the program in it writes outside of the workspace": ("das Programm darin schreibt außerhalb des Arbeitsbereichs"),
    "the awk program can run commands or read other files": (
        "das awk-Programm kann Befehle ausführen oder andere Dateien lesen"
    ),
    "the awk program writes files": "das awk-Programm schreibt Dateien",
    "the sed program runs commands": "das sed-Programm führt Befehle aus",
    "the sed program uses the file {name}": "das sed-Programm benutzt die Datei {name}",
    "the sed program is not understood": "das sed-Programm wird nicht verstanden",
    "the database client can run commands or reach files": (
        "das Datenbankprogramm kann Befehle ausführen oder an Dateien gelangen"
    ),
    "the editor's commands can run programs": "die Befehle des Editors können Programme ausführen",
    "the program in the command is too long to be looked through": (
        "das Programm im Befehl ist zu lang, um durchgesehen zu werden"
    ),
    "a part of the program in the command is not known": "ein Teil des Programms im Befehl ist nicht bekannt",
    "it runs what comes from the network": "es führt aus, was aus dem Netz kommt",
    "it runs what it will read from its input": "es führt aus, was es als Eingabe bekommt",
    "it runs what it decodes first, and that cannot be read here": (
        "es führt aus, was es erst entschlüsselt, und das lässt sich hier nicht lesen"
    ),
    "it runs what {name} writes": "es führt aus, was {name} schreibt",
    "another program": "ein anderes Programm",
    "the name of the program is not known": "der Name des Programms ist nicht bekannt",
    "it runs many commands": "es führt viele Befehle aus",
    "it runs what {path} gives": "es führt aus, was {path} liefert",
    "which script it runs is not known": "welches Skript es ausführt, ist nicht bekannt",
    "which program it runs is not known ({name})": "welches Programm es ausführt, ist nicht bekannt ({name})",
    "the program's name has unusual letters": "der Name des Programms hat ungewöhnliche Buchstaben",
    "the program's name is unusual": "der Name des Programms ist ungewöhnlich",
    "an option of {name} runs a command": "eine Option von {name} führt einen Befehl aus",
}

_FILES: Mapping[str, str] = {
    "it moves files to where they are lost": "es verschiebt Dateien dahin, wo sie verloren sind",
    "it deletes the files that it packs": "es löscht die Dateien, die es einpackt",
    "it unpacks files to wherever the archive says": "es entpackt Dateien dahin, wohin das Archiv es sagt",
    "it deletes a database": "es löscht eine Datenbank",
    "it deletes data from a database": "es löscht Daten aus einer Datenbank",
    "it deletes containers, images or volumes": "es löscht Container, Images oder Volumes",
    "it empties {path}": "es leert {path}",
    "it deletes {place}": "es löscht: {place}",
    "it deletes {path}, {place}": "es löscht {path} ({place})",
    "it deletes files in {path}": "es löscht Dateien in {path}",
    "it moves away {path}, {place}": "es verschiebt {path} ({place})",
    "it writes to {path}, {place}": "es schreibt nach {path} ({place})",
    "what it writes to {path} is run later, by itself": "was es nach {path} schreibt, läuft später von selbst",
    "it writes version control's own files": "es schreibt die eigenen Dateien der Versionsverwaltung",
    "what it overwrites cannot be brought back": "was es überschreibt, lässt sich nicht zurückholen",
    "it reads a device past all permissions": "es liest ein Gerät an allen Rechten vorbei",
    "it deletes files that are in no history": "es löscht Dateien, die in keiner Versionsgeschichte stehen",
    "changes that were not committed are lost": "Änderungen, die nicht eingecheckt sind, gehen verloren",
    "changes or history are lost": "Änderungen oder die Versionsgeschichte gehen verloren",
    "changes are lost": "Änderungen gehen verloren",
    "a working tree is deleted with its changes": "ein Arbeitsbaum wird samt seinen Änderungen gelöscht",
    "files are deleted": "Dateien werden gelöscht",
    "what it deletes cannot be brought back": "was es löscht, lässt sich nicht zurückholen",
    "it rewrites or deletes history": "es schreibt die Versionsgeschichte um oder löscht sie",
    "it overwrites or deletes what is in the other repository": (
        "es überschreibt oder löscht, was im anderen Repository steht"
    ),
    "commits that are in no other branch are lost": "Commits, die in keinem anderen Zweig stehen, gehen verloren",
    "which part of git it is is not known": "welcher Teil von git gemeint ist, ist nicht bekannt",
    "a setting of git makes it run something or go somewhere else": (
        "eine Einstellung von git lässt es etwas ausführen oder woandershin gehen"
    ),
    "it changes git's settings for all repositories": "es ändert die Einstellungen von git für alle Repositorys",
    "it changes rights or attributes of files": "es ändert Rechte oder Attribute von Dateien",
    "the rights that it gives are not known": "welche Rechte es gibt, ist nicht bekannt",
    "it gives files to somebody else": "es gibt Dateien jemand anderem",
    "the mode {mode} lets others write, or programs run as somebody else": (
        "der Modus {mode} lässt andere schreiben oder Programme als jemand anderes laufen"
    ),
    "it changes the rights of a whole tree": "es ändert die Rechte eines ganzen Verzeichnisbaums",
    "it changes the rights of files outside of the workspace": (
        "es ändert die Rechte von Dateien außerhalb des Arbeitsbereichs"
    ),
}

_OUTSIDE: Mapping[str, str] = {
    "it sends to a registry": "es schickt etwas an eine Registry",
    "it sends mail": "es verschickt Mail",
    "it opens this computer to the network": "es öffnet diesen Rechner für das Netz",
    "it reaches other computers or people": "es erreicht andere Rechner oder Leute",
    "what it does is in a file of settings": "was es tut, steht in einer Datei mit Einstellungen",
    "it uses an unusual protocol": "es benutzt ein ungewöhnliches Protokoll",
    "it sends data to {host}": "es schickt Daten an {host}",
    "another computer": "einen anderen Rechner",
    "it opens a connection that can carry anything": "es öffnet eine Verbindung, die alles Mögliche tragen kann",
    "it opens a tunnel": "es öffnet einen Tunnel",
    "it can send files to another computer": "es kann Dateien an einen anderen Rechner schicken",
    "the name that it asks for is made of data": "der Name, nach dem es fragt, ist aus Daten gemacht",
    "it sends files to a service": "es schickt Dateien an einen Dienst",
    "the address that it asks for is made of data": "die Adresse, die es abruft, ist aus Daten gemacht",
    "it sends what it reads to another computer": "es schickt, was es liest, an einen anderen Rechner",
    "it sends files to {host}": "es schickt Dateien an {host}",
    "it asks for a name in the network": "es fragt im Netz nach einem Namen",
    "the shell itself opens a connection": "die Shell selbst öffnet eine Verbindung",
    "it talks to {host}": "es spricht mit {host}",
    "it sends history to an address that is no remote of the repository": (
        "es schickt die Versionsgeschichte an eine Adresse, die kein Remote des Repositorys ist"
    ),
    "it deletes what is elsewhere": "es löscht, was anderswo liegt",
    "it changes what is elsewhere": "es ändert, was anderswo liegt",
    "the container reaches out of itself": "der Container greift aus sich heraus",
}

_SYSTEM: Mapping[str, str] = {
    "it starts copies of itself without end": "es startet ohne Ende Kopien seiner selbst",
    "it schedules what runs later, by itself": "es plant, was später von selbst läuft",
    "it changes what runs on this computer": "es ändert, was auf diesem Rechner läuft",
    "it sends commands to services of this computer": "es schickt Diensten dieses Rechners Befehle",
    "it removes software from this computer": "es entfernt Software von diesem Rechner",
    "it runs something with another user's rights": "es führt etwas mit den Rechten eines anderen Benutzers aus",
    "it enters another root, namespace or user": "es geht in eine andere Wurzel, einen Namensraum oder Benutzer über",
    "it prints the environment, which may hold secrets": "es gibt die Umgebung aus, in der Geheimnisse stehen können",
    "it prints the environment of processes": "es gibt die Umgebung von Prozessen aus",
    "it prints all variables, which may hold secrets": "es gibt alle Variablen aus, in denen Geheimnisse stehen können",
    "it hands out stored secrets": "es gibt gespeicherte Geheimnisse heraus",
    "it prints stored passwords": "es gibt gespeicherte Passwörter aus",
    "it uses the secret in ${name}": "es benutzt das Geheimnis in ${name}",
    "it reaches for {name}, where secrets are kept": "es greift nach {name}, wo Geheimnisse liegen",
    "{name} changes what programs load or where they go": "{name} ändert, was Programme laden oder wohin sie gehen",
    "{name} changes what programs load": "{name} ändert, was Programme laden",
    "{name} names a program that others will run": "{name} nennt ein Programm, das andere ausführen werden",
    "it changes where programs are found": "es ändert, wo Programme gefunden werden",
    "it changes how words are divided": "es ändert, wie Wörter getrennt werden",
    "it changes what Python loads": "es ändert, was Python lädt",
    "it gives {name} another meaning": "es gibt {name} eine andere Bedeutung",
    "it gives a name another program": "es gibt einem Namen ein anderes Programm",
    "it loads or turns off builtins of the shell": "es lädt eingebaute Befehle der Shell oder schaltet sie ab",
    "it changes what words mean": "es ändert, was Wörter bedeuten",
    "it binds commands to keys or words": "es legt Befehle auf Tasten oder Wörter",
}

OF_COMMANDS: Mapping[str, str] = {
    "{reason} ({rule})": "{reason} ({rule})",
    **_PLACES,
    **_WRITTEN,
    **_CODE,
    **_FILES,
    **_OUTSIDE,
    **_SYSTEM,
}
"""By the English sentence, placeholders unfilled. What a command does is said of it: es."""
