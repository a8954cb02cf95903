"""What the slash commands answer, in English and German; the rest of what Hob says is in `sentences`."""

from collections.abc import Mapping
from enum import StrEnum, auto


class Answer(StrEnum):
    """The name of one answer."""

    HELP = auto()
    HELP_LINE = auto()
    HELP_ANSWERS = auto()
    UNKNOWN = auto()
    STATUS = auto()
    STATUS_FOR_LEAVE = auto()
    STATUS_FOR_ANSWER = auto()
    STATUS_PAUSED = auto()
    WHOAMI = auto()
    STOPPED = auto()
    NOTHING_RUNS = auto()
    FRESH = auto()
    COMPACTED = auto()
    NOT_COMPACTED = auto()
    COMPACTION_UNDONE = auto()
    NO_COMPACTION = auto()
    TURN_UNDONE = auto()
    NOTHING_TO_UNDO = auto()
    TURN_CHANGED_FILES = auto()
    FILES_UNDONE = auto()
    FILES_AS_BEFORE = auto()
    FILES_KEPT = auto()
    FILES_BACK = auto()
    FILES_PREVIEW = auto()
    NO_FILES_TO_UNDO = auto()
    STILL_CHANGING = auto()
    UNDO_USAGE = auto()
    MODEL = auto()
    MODEL_SET = auto()
    MODEL_DEFAULT = auto()
    NO_MODEL_NAME = auto()
    MODEL_CHAIN = auto()
    MODEL_ALIASES = auto()
    MODEL_REFUSED = auto()
    THINKING = auto()
    THINKING_SET = auto()
    THINKING_DEFAULT = auto()
    THINKING_UNKNOWN = auto()
    PERMISSION = auto()
    PERMISSION_SET = auto()
    PERMISSION_UNKNOWN = auto()
    PERMISSION_ALONE = auto()
    MEANS_READ_ONLY = auto()
    MEANS_GUARDED = auto()
    MEANS_WORKSPACE = auto()
    MEANS_FULL = auto()
    AUTONOMY = auto()
    AUTONOMY_SET = auto()
    AUTONOMY_UNKNOWN = auto()
    MEANS_SUPERVISED = auto()
    MEANS_CAUTIOUS = auto()
    MEANS_AUTONOMOUS = auto()
    AS_CONFIGURED = auto()
    APPROVAL_ALLOWED = auto()
    APPROVAL_DENIED = auto()
    USAGE = auto()
    USAGE_LINE = auto()
    LIMIT_LINE = auto()
    PRICE_UNKNOWN = auto()
    CONTEXT = auto()
    CONTEXT_LINE = auto()
    CACHED = auto()
    SESSION = auto()
    SESSION_LINE = auto()
    SESSION_SWITCHED = auto()
    SESSION_ARCHIVED = auto()
    SESSION_TITLED = auto()
    SESSION_USAGE = auto()
    NO_TASKS = auto()
    TASKS = auto()
    TASK_LINE = auto()
    PAUSED = auto()
    RESUMED = auto()
    CANCEL_USAGE = auto()
    CANCELLED = auto()
    NOT_CANCELLED = auto()
    QUEUE = auto()
    QUEUE_SET = auto()
    NEEDS_OWNER = auto()
    NEEDS_SCOPE = auto()


_TEXTS: Mapping[Answer, tuple[str, str]] = {
    Answer.HELP: ("Commands, answered without a model:\n{lines}", "Befehle, ohne Modell beantwortet:\n{lines}"),
    Answer.HELP_LINE: ("  {usage}  {text}", "  {usage}  {text}"),
    Answer.HELP_ANSWERS: (
        "Where something waits for your leave, `approve:ID` and `deny:ID` answer; a bare yes or no does in a chat with "
        "me alone where only that one question stands. `hob approvals` lists what waits.",
        "Wo etwas auf deine Erlaubnis wartet, antworten `approve:ID` und `deny:ID`; ein bloßes Ja oder Nein genügt im "
        "Chat mit mir allein, wenn nur diese eine Frage offen ist. `hob approvals` zählt auf, was wartet.",
    ),
    Answer.UNKNOWN: (
        "There is no command {name}. {hint}`/help` lists them all. To send the text to the model, begin with a space.",
        "Den Befehl {name} gibt es nicht. {hint}`/help` zählt alle auf. Ein Leerzeichen davor schickt ihn ans Modell.",
    ),
    Answer.STATUS: (
        "Hob {version}: {running} running, {waiting} waiting, {owed} replies owed; model {model}; store {store}.",
        "Hob {version}: {running} in Arbeit, {waiting} wartend, {owed} Antworten unterwegs; "
        "Modell {model}; Datenbank {store}.",
    ),
    Answer.STATUS_FOR_LEAVE: (
        "Waiting for your leave: {count}. `hob approvals` shows what is asked.",
        "Wartet auf deine Erlaubnis: {count}. `hob approvals` zeigt, worum es geht.",
    ),
    Answer.STATUS_FOR_ANSWER: (
        "Waiting for your answer, in the conversation where it was asked: {count}.",
        "Wartet auf deine Antwort, in dem Gespräch, in dem gefragt wurde: {count}.",
    ),
    Answer.STATUS_PAUSED: ("Going on later by itself: {count}.", "Geht später von selbst weiter: {count}."),
    Answer.WHOAMI: (
        "You are {name} ({cls}) on {channel}; this is session {session}.",
        "Du bist {name} ({cls}) auf {channel}; das ist die Sitzung {session}.",
    ),
    Answer.STOPPED: ("Stopping.", "Ich halte an."),
    Answer.NOTHING_RUNS: ("Nothing is running here.", "Hier läuft gerade nichts."),
    Answer.FRESH: (
        "A fresh start. What was said is kept (`hob export`), but I no longer look at it.",
        "Ein neuer Anfang. Was gesagt wurde, bleibt erhalten (`hob export`), aber ich sehe es nicht mehr an.",
    ),
    Answer.COMPACTED: (
        "Compacted: {messages} messages became a summary of {chars} characters. `/compact undo` takes it back.",
        "Verdichtet: {messages} Nachrichten wurden zu einer Zusammenfassung von {chars} Zeichen. "
        "`/compact undo` nimmt es zurück.",
    ),
    Answer.NOT_COMPACTED: ("Not compacted: {reason}.", "Nicht verdichtet: {reason}."),
    Answer.COMPACTION_UNDONE: (
        "The last summary is taken back; the messages themselves show again.",
        "Die letzte Zusammenfassung ist zurückgenommen; die Nachrichten selbst gelten wieder.",
    ),
    Answer.NO_COMPACTION: ("There is no summary to take back.", "Es gibt keine Zusammenfassung zum Zurücknehmen."),
    Answer.TURN_UNDONE: (
        "Taken back: “{text}” and its answer. They are kept but no longer shown to the model.",
        "Zurückgenommen: „{text}“ und die Antwort darauf. Beides bleibt erhalten, aber das Modell sieht es nicht mehr.",
    ),
    Answer.NOTHING_TO_UNDO: ("There is nothing to take back.", "Es gibt nichts zurückzunehmen."),
    Answer.TURN_CHANGED_FILES: (
        "It changed files, which are left as they are:{files}\n`{command}` puts them back.",
        "Dateien, die dabei geändert wurden, bleiben, wie sie sind:{files}\n`{command}` stellt sie wieder her.",
    ),
    Answer.FILES_UNDONE: (
        "As they were before “{text}”:{files}",
        "Wieder wie vor „{text}“:{files}",
    ),
    Answer.FILES_AS_BEFORE: (
        "All files are as they were before “{text}”.",
        "Alle Dateien sind so, wie sie vor „{text}“ waren.",
    ),
    Answer.FILES_KEPT: ("Left as they are:{files}", "So gelassen, wie sie sind:{files}"),
    Answer.FILES_BACK: ("`{command}` takes this back.", "`{command}` nimmt das zurück."),
    Answer.FILES_PREVIEW: (
        "To be as before “{text}”, this would change (`/undo files {turn}` does it):\n\n{diff}",
        "Um wie vor „{text}“ zu sein, würde sich dies ändern (`/undo files {turn}` macht es):\n\n{diff}",
    ),
    Answer.NO_FILES_TO_UNDO: (
        "Nothing here has changed files that could be put back.",
        "Hier hat nichts Dateien geändert, die sich wiederherstellen ließen.",
    ),
    Answer.STILL_CHANGING: (
        "Still running in the background, and able to change files again: {names}.",
        "Läuft noch im Hintergrund und kann weiter Dateien ändern: {names}.",
    ),
    Answer.UNDO_USAGE: (
        "`/undo` takes the last turn's words back, `/undo files` what it changed in files, `/undo files preview` shows "
        "that first.",
        "`/undo` nimmt die Worte der letzten Runde zurück, `/undo files`, was sie an Dateien geändert hat; "
        "`/undo files preview` zeigt das vorher.",
    ),
    Answer.MODEL: ("This session's model is {model}.", "Das Modell dieser Sitzung ist {model}."),
    Answer.MODEL_SET: ("From now on this session uses {model}.", "Ab jetzt nimmt diese Sitzung {model}."),
    Answer.MODEL_DEFAULT: (
        "From now on this session uses the configured model, {model}.",
        "Ab jetzt nimmt diese Sitzung das eingestellte Modell, {model}.",
    ),
    Answer.NO_MODEL_NAME: ("none", "keines"),
    Answer.MODEL_CHAIN: ("If it does not answer: {models}.", "Wenn es nicht antwortet: {models}."),
    Answer.MODEL_ALIASES: ("Names of your own: {names}.", "Eigene Namen: {names}."),
    Answer.MODEL_REFUSED: ("Nothing changed: {reason}", "Nichts geändert: {reason}"),
    Answer.THINKING: (
        "How long the model thinks in this session: {level}. Choose {levels} or default.",
        "Wie lange das Modell in dieser Sitzung nachdenkt: {level}. Zur Wahl: {levels}, default.",
    ),
    Answer.THINKING_SET: ("From now on the model thinks: {level}.", "Ab jetzt denkt das Modell nach: {level}."),
    Answer.THINKING_DEFAULT: (
        "From now on the model thinks as the settings say.",
        "Ab jetzt denkt das Modell nach, wie es in den Einstellungen steht.",
    ),
    Answer.THINKING_UNKNOWN: (
        "There is no level {wanted}; it stays {level}. Choose {levels} or default.",
        "Eine Stufe {wanted} gibt es nicht, es bleibt bei {level}. Zur Wahl: {levels}, default.",
    ),
    Answer.PERMISSION: ("This session permits: {word}.\n{lines}", "Diese Sitzung erlaubt: {word}.\n{lines}"),
    Answer.PERMISSION_SET: ("From now on this session permits: {word}.", "Ab jetzt erlaubt diese Sitzung: {word}."),
    Answer.PERMISSION_UNKNOWN: (
        "There is no mode {wanted}; it stays: {word}.\n{lines}",
        "Einen Modus {wanted} gibt es nicht, es bleibt bei: {word}.\n{lines}",
    ),
    Answer.PERMISSION_ALONE: (
        "Nothing changed: `/permission {word}` counts only where you type it yourself, in a chat with me alone.",
        "Nichts geändert: `/permission {word}` gilt nur, wo du es selbst schreibst, in einem Chat mit mir allein.",
    ),
    Answer.MEANS_READ_ONLY: (
        "reads and looks things up; changes, runs and sends nothing",
        "liest und schlägt nach; ändert, startet und verschickt nichts",
    ),
    Answer.MEANS_GUARDED: (
        "also does what can be undone and runs in the sandbox; asks before risky commands, and before what is final or "
        "goes to somebody unless you named it",
        "tut auch, was rückgängig zu machen ist und in der Sandbox läuft; fragt vor riskanten Befehlen und, wenn du es "
        "nicht genannt hast, vor Endgültigem und dem Verschicken",
    ),
    Answer.MEANS_WORKSPACE: (
        "as guarded; where autonomous, what is final or risky needs no asking",
        "wie guarded; bei autonomous auch Endgültiges und Riskantes, ohne zu fragen",
    ),
    Answer.MEANS_FULL: (
        "what is final or risky needs no asking, and where autonomous nor does sending",
        "Endgültiges und Riskantes, ohne zu fragen, und bei autonomous auch das Verschicken",
    ),
    Answer.AUTONOMY: (
        "How much this session does without asking: {word}.\n{lines}",
        "Wie viel diese Sitzung tut, ohne zu fragen: {word}.\n{lines}",
    ),
    Answer.AUTONOMY_SET: (
        "How much this session does without asking, from now on: {word}.",
        "Wie viel diese Sitzung ab jetzt tut, ohne zu fragen: {word}.",
    ),
    Answer.AUTONOMY_UNKNOWN: (
        "There is no level {wanted}; it stays: {word}.\n{lines}",
        "Eine Stufe {wanted} gibt es nicht, es bleibt bei: {word}.\n{lines}",
    ),
    Answer.MEANS_SUPERVISED: (
        "asks before all but reading and looking up",
        "fragt vor allem außer Lesen und Nachschlagen",
    ),
    Answer.MEANS_CAUTIOUS: (
        "does what can be undone; the rest as the mode says, see `/permission`",
        "tut, was rückgängig zu machen ist; alles andere je nach Modus, siehe `/permission`",
    ),
    Answer.MEANS_AUTONOMOUS: (
        "asks as little as the mode lets it, see `/permission`",
        "fragt so wenig, wie der Modus es zulässt, siehe `/permission`",
    ),
    Answer.AS_CONFIGURED: ("as the settings say", "wie in den Einstellungen"),
    Answer.APPROVAL_ALLOWED: ("Allowed: {tool}.", "Erlaubt: {tool}."),
    Answer.APPROVAL_DENIED: ("Not allowed: {tool}.", "Nicht erlaubt: {tool}."),
    Answer.USAGE: ("Spent:\n{lines}", "Verbraucht:\n{lines}"),
    Answer.USAGE_LINE: (
        "  {scope}: {cost}, {calls} calls, {input} tokens in ({cached} cached), {output} out",
        "  {scope}: {cost}, {calls} Aufrufe, {input} Token hinein ({cached} aus dem Cache), {output} heraus",
    ),
    Answer.LIMIT_LINE: (
        "  {key}: ${spent} of ${limit}, ${left} left",
        "  {key}: {spent} $ von {limit} $, noch {left} $",
    ),
    Answer.PRICE_UNKNOWN: ("{cost} + {calls} calls of unknown price", "{cost} + {calls} Aufrufe mit unbekanntem Preis"),
    Answer.CONTEXT: (
        "The next request holds about {tokens} tokens of {limit}:\n{lines}",
        "Die nächste Anfrage hat etwa {tokens} von {limit} Token:\n{lines}",
    ),
    Answer.CONTEXT_LINE: (
        "  {name}: {bytes} bytes, {tokens} tokens{cached}",
        "  {name}: {bytes} Bytes, {tokens} Token{cached}",
    ),
    Answer.CACHED: (" (cached)", " (aus dem Cache)"),
    Answer.SESSION: (
        "This is session {session}. Sessions here:\n{lines}",
        "Das ist die Sitzung {session}. Hier gibt es:\n{lines}",
    ),
    Answer.SESSION_LINE: (
        "  {mark} {key}  {title} ({entries} messages)",
        "  {mark} {key}  {title} ({entries} Nachrichten)",
    ),
    Answer.SESSION_SWITCHED: (
        "This chat now talks in session {session}.",
        "Dieser Chat spricht jetzt in der Sitzung {session}.",
    ),
    Answer.SESSION_ARCHIVED: (
        "Session {session} is archived; `/session switch {session}` brings it back.",
        "Die Sitzung {session} ist archiviert; `/session switch {session}` holt sie zurück.",
    ),
    Answer.SESSION_TITLED: ("This session is now called “{title}”.", "Diese Sitzung heißt jetzt „{title}“."),
    Answer.SESSION_USAGE: (
        "Use `/session`, `/session list`, `/session switch NAME`, `/session archive [NAME]` or `/session title TEXT`.",
        "Nimm `/session`, `/session list`, `/session switch NAME`, `/session archive [NAME]`, `/session title TEXT`.",
    ),
    Answer.NO_TASKS: ("No open tasks.", "Keine offenen Aufgaben."),
    Answer.TASKS: ("Open tasks:\n{lines}", "Offene Aufgaben:\n{lines}"),
    Answer.TASK_LINE: ("  {id} {state}: {title}", "  {id} {state}: {title}"),
    Answer.PAUSED: (
        "Paused. What arrives is kept; `/resume` goes on.",
        "Angehalten. Was ankommt, bleibt erhalten; mit `/resume` geht es weiter.",
    ),
    Answer.RESUMED: ("Going on.", "Es geht weiter."),
    Answer.CANCEL_USAGE: (
        "Say which: `/cancel ID`; `/tasks` lists them.",
        "Sag welche: `/cancel ID`; `/tasks` zählt sie auf.",
    ),
    Answer.CANCELLED: ("{id} is cancelled.", "{id} ist abgebrochen."),
    Answer.NOT_CANCELLED: (
        "Nothing open is called {id}; `/tasks` lists what is.",
        "Nichts Offenes heißt {id}; `/tasks` zählt auf, was offen ist.",
    ),
    Answer.QUEUE: (
        "A message that comes while I work: {mode}. Choose steer, followup, collect, interrupt or default.",
        "Eine Nachricht, die während der Arbeit kommt: {mode}. Zur Wahl: steer, followup, collect, interrupt, default.",
    ),
    Answer.QUEUE_SET: ("Queue mode is now {mode}.", "Der Modus ist jetzt {mode}."),
    Answer.NEEDS_OWNER: ("Only the owner may do that.", "Das darf nur der Besitzer."),
    Answer.NEEDS_SCOPE: (
        "The token this came with is not good for that: it needs the scope `{scope}`. `hob token new` makes one.",
        "Das Token, mit dem das kam, reicht dafür nicht: Nötig ist der Scope `{scope}`. `hob token new` macht eines.",
    ),
}


def answer(which: Answer, language: str = "en", /, **values: object) -> str:
    """The answer in this language (English where Hob does not speak it). Raises KeyError for a missing placeholder."""
    english, german = _TEXTS[which]
    return (german if language == "de" else english).format_map(values)


def texts_of(name: Answer) -> tuple[str, str]:
    """The answer in English and German, placeholders unfilled."""
    return _TEXTS[name]
