"""Patterns of attempts to steer an assistant, as data.

Phrases are words in order, within one sentence, with a maximum number of words in between: `"ignore|forget 4 @earlier 3
@orders"`. A word ending in `*` matches every word with this beginning, `_` joins consecutive words, `@` names a list
below. Signs are regular expressions for anything that is not language; a test limits their steps. Both are matched
against text normalised by `scanner.plain`.

A score of 1.0 is suspicious alone; lower scores need company. Families follow the OWASP cheat sheet on prompt
injection, https://cheatsheetseries.owasp.org/cheatsheets/LLM_Prompt_Injection_Prevention_Cheat_Sheet.html.
"""

from collections.abc import Mapping

from hob.core.values import dataclass

OVERRIDE = "instruction_override"
ROLE = "role_forging"
TOOL = "tool_forging"
DELIMITER = "delimiter_escape"
IMAGE = "image_exfiltration"
PROMPT = "prompt_exfiltration"
ENCODED = "encoded_payload"
INVISIBLE = "invisible"
ATTACK = "attack_intent"
FAMILIES = (OVERRIDE, ROLE, TOOL, DELIMITER, IMAGE, PROMPT, ENCODED, INVISIBLE, ATTACK)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sequence of words, with the family it belongs to."""

    family: str
    score: float
    words: str


@dataclass(frozen=True, slots=True)
class Sign:
    """A regular expression of one family, tried only if the text contains one of `needs`."""

    family: str
    score: float
    needs: tuple[str, ...]
    pattern: str


WORDS: Mapping[str, str] = {
    "leave": "ignore|ignoring|disregard|disregarding|forget|override|overrule|bypass|discard|neglect|abandon|cancel"
    "|do_not_follow|don't_follow|stop_following|do_not_obey|stop_obeying|never_follow|set_aside|pay_no_attention_to",
    "earlier": "previous|prior|earlier|preceding|former|above|foregoing|initial|original|all|any|your|past|every",
    "orders": "instruction|instructions|direction|directions|directive|directives|prompt|prompts|rules|guideline"
    "|guidelines|orders|commands|constraints|restrictions|policy|policies|safeguards|programming|training",
    "void": "void|obsolete|invalid|superseded|null|cancelled|canceled|revoked|no_longer",
    "lass": "ignorier|ignoriere|ignorieren|vergiss|missachte|missacht|verwirf|umgehe|umgeh|übergehe|überspringe",
    "bisher": "vorherig*|bisherig*|obig*|früher*|alle|deine*|system*|vorangehend*",
    "regeln": "anweisung*|regel|regeln|vorgabe*|instruktion*|befehl|befehle|richtlinie*",
    "show": "print|repeat|reveal|show|output|dump|display|recite|disclose|tell|give|list|translate|send|post|leak|write"
    "|share|summarize|summarise",
    "zeig": "verrat|verrate|zeig|zeige|gib|wiederhol|wiederhole|nenn|nenne|schick|schicke|sende|lies",
    "secrets": "secrets|token|tokens|passwords|credentials|keys|api_keys|api_key|private_notes|ssh_keys|access_keys",
    "erase": "delete|erase|wipe|destroy|remove|shred|nuke|drop|overwrite",
    "whole": "all|every|everything|whole|entire|complete",
    "stored": "file|files|data|repo|repos|repository|repositories|backup|backups|tables|disk|disks|notes|folders",
    "lösch": "lösch*|vernicht*|zerstör*|entfern*",
    "alles": "alle|alles|sämtlich*|komplett*|gesamt*|ganze|ganzen",
    "dateien": "datei|dateien|daten|repo|repository|repos|backup|backups|ordner|festplatte|notizen|home-verzeichnis",
    "talk": "conversation|chat|history|message|messages|e-mail|email|mail|address|password|passwords|secret|secrets|key"
    "|keys|token|memory|memory.md|context|last_question|last_answer",
    "carrier": "image|images|pixel|url|link|query|query_string|picture|its_path",
    "attach": "append|include|add|put|embed|encode|attach|insert|render|concatenate",
    "guard": "guard|guards|approval|approvals|security|safety|sandbox|restrictions|protections|safeguards|filters",
    "off": "disable|disabling|turn_off|switch_off|deactivate|bypass|circumvent|remove",
    "owner": "user|owner|anyone|anybody|him|her|them|human|it",
}

PHRASES: tuple[Phrase, ...] = (
    # instructions that override instructions
    Phrase(OVERRIDE, 1.0, "@leave 5 @earlier 3 @orders"),
    Phrase(OVERRIDE, 1.0, "@leave 3 @orders 1 you 1 were|have 1 given|told|been"),
    Phrase(OVERRIDE, 1.0, "@leave 4 everything|all|what 1 you|u 1 were|have|ve 1 told|given|been"),
    Phrase(OVERRIDE, 1.0, "@leave 1 everything|all 1 above|before|said"),
    Phrase(OVERRIDE, 1.0, "previous|prior|earlier|above|old|other 2 @orders 2 @void"),
    Phrase(OVERRIDE, 0.6, "new|updated|real|actual 0 instruction|instructions|orders|directive|objective"),
    Phrase(OVERRIDE, 0.8, "your 0 new|real|only|actual 0 task|goal|objective|purpose|instructions"),
    Phrase(OVERRIDE, 0.6, "follow|obey 0 these 1 instead"),
    Phrase(OVERRIDE, 0.6, "only|just 1 obey|follow|listen_to|answer_to 0 me|my"),
    Phrase(OVERRIDE, 0.6, "obey 2 next|visitor|sender|following"),
    Phrase(OVERRIDE, 0.6, "without 1 restriction|restrictions|limits|limitations|filters|rules"),
    Phrase(OVERRIDE, 0.6, "no 0 rules|restrictions|limits"),
    Phrase(OVERRIDE, 0.6, "unrestricted|free_of_all|no_longer_bound|uncensored"),
    Phrase(OVERRIDE, 0.8, "@leave 2 user's|users|owner's 0 request|question|wishes"),
    Phrase(OVERRIDE, 0.6, "not|don't 0 mention|quote|summarise|summarize 0 this 0 paragraph|message|text|note|section"),
    Phrase(OVERRIDE, 1.0, "@lass 3 @bisher 3 @regeln"),
    Phrase(OVERRIDE, 1.0, "vorherig*|bisherig*|obig*|früher* 1 @regeln 3 ungültig|aufgehoben|hinfällig|nicht_mehr"),
    Phrase(OVERRIDE, 0.6, "neue|neuer|neues 0 anweisung|anweisungen|aufgabe|auftrag|ziel"),
    Phrase(OVERRIDE, 0.8, "gehorch* 3 mir"),
    # impersonation
    Phrase(ROLE, 0.8, "system|admin|administrator|security 0 override"),
    Phrase(ROLE, 1.0, "you 0 are|re 1 dan|root|jailbroken|unrestricted|unfiltered"),
    Phrase(ROLE, 1.0, "do|does 0 anything 0 now"),
    Phrase(ROLE, 0.6, "must|will|shall 1 now 0 act|behave|answer|respond|speak 0 as"),
    Phrase(ROLE, 0.6, "developer|maintenance|god|debug|sudo 0 mode"),
    Phrase(ROLE, 0.6, "wartungsmodus|entwicklermodus|administratormodus"),
    Phrase(ROLE, 0.7, "this_is|i_am|i'm 1 your|the 0 developer|administrator|admin|creator|maker|system|owner"),
    Phrase(ROLE, 0.7, "ich_bin 1 dein|deine|der|die 0 administrator*|entwickler*|admin|besitzer*|betreiber*"),
    Phrase(ROLE, 0.6, "root_access|grant 2 owner_rights|admin_rights|full_access"),
    Phrase(ROLE, 0.6, "i 1 order|command|authorise|authorize 0 you"),
    # forged tool calls
    Phrase(TOOL, 0.7, "call|invoke|use 0 the 0 tool|function"),
    Phrase(TOOL, 0.7, "your 0 exec|shell|terminal|bash|mail 0 tool"),
    # premature ends of quotes
    Phrase(
        DELIMITER, 0.8, "end_of 1 untrusted|external|quoted|quote|tool|document|retrieved|user|context|input|message"
    ),
    Phrase(DELIMITER, 0.5, "begin|new|end 0 owner|user 0 message"),
    Phrase(DELIMITER, 0.6, "quote|document|content|mail|text 0 ends_here|has_ended|is_over"),
    Phrase(DELIMITER, 0.5, "owner|user 2 says|agreed|agrees|approved|has_approved|now_wants|confirmed|answer"),
    Phrase(DELIMITER, 0.6, "instructions|instruction|notes|note|message 0 for|to 1 assistant|ai|model|agent|bot|llm"),
    Phrase(DELIMITER, 0.6, "dear|hello|hey|attention 0 ai|assistant|llm|chatbot|language_model"),
    # exfiltration in an address
    Phrase(IMAGE, 0.7, "@attach 10 @carrier 16 @talk"),
    Phrase(IMAGE, 1.0, "@attach 3 @talk 12 @carrier"),
    Phrase(IMAGE, 1.0, "image|link|url|address 6 followed_by|ending_in|containing 6 @talk"),
    Phrase(
        IMAGE, 1.0, "füg*|häng*|setz*|bau* 10 bild|adresse|link|url 14 chatverlauf|verlauf|passw*|schlüssel|gespräch"
    ),
    # extraction of the prompt and of memory
    Phrase(PROMPT, 0.8, "@show 4 your|the 2 system|initial|hidden|original|secret 0 prompt|instructions|message|rules"),
    Phrase(PROMPT, 1.0, "@show 6 your 1 system|initial|hidden|original 0 prompt|instructions|message"),
    Phrase(PROMPT, 0.8, "@show 1 above|preceding 0 prompt|text|instructions"),
    Phrase(PROMPT, 0.6, "text|words|instructions|prompt|rules 0 you 0 were|have_been 0 given|told"),
    Phrase(PROMPT, 0.8, "your 0 hidden|secret|internal 0 instructions|prompt|rules"),
    Phrase(PROMPT, 0.8, "@show 1 everything|all|text|words|messages 1 above|before_this"),
    Phrase(
        PROMPT,
        0.4,
        "verbatim|word_for_word|full_text|exact_words|quote_it|code_block|starting_with|wort_für_wort|wörtlich|wortwörtlich",
    ),
    Phrase(PROMPT, 0.4, "including_all|and_send_them|and_send_it"),
    Phrase(PROMPT, 1.0, "@zeig 2 deinen|dein|deine 2 systemprompt|system-prompt|systemanweisung*"),
    Phrase(PROMPT, 0.8, "@zeig 4 systemprompt|system-prompt|systemanweisung*|über_dieser_nachricht"),
    Phrase(PROMPT, 0.8, "wiederhol* 5 alles 4 über|oben"),
    Phrase(PROMPT, 1.0, "@show 5 memory.md|user.md|soul.md"),
    Phrase(PROMPT, 1.0, "@show 2 your|owner's|stored|saved|all|secret|hidden|any 2 @secrets"),
    Phrase(PROMPT, 0.6, "@secrets 3 stored|saved|kept 1 in 1 your"),
    Phrase(PROMPT, 0.8, "@show 2 environment 0 variables 3 values"),
    Phrase(PROMPT, 0.4, "including|with 0 the 0 @secrets"),
    Phrase(PROMPT, 1.0, "@zeig 6 passwörter|api-schlüssel|api-keys|zugangsdaten|geheimnisse|kennwörter"),
    # harmful instructions
    Phrase(ATTACK, 1.0, "@erase 0 @whole 3 @stored"),
    Phrase(ATTACK, 1.0, "@erase 0 the 0 whole|entire|complete 2 @stored"),
    Phrase(ATTACK, 1.0, "wipe|destroy|erase|nuke 2 repo|repository|disk|drive|server|home_directory|database"),
    Phrase(ATTACK, 0.5, "@erase 1 backups"),
    Phrase(ATTACK, 1.0, "exfiltrate 2 keys|secrets|passwords|credentials|tokens|notes"),
    Phrase(
        ATTACK, 0.6, "not|don't|never|without 0 tell|telling|inform|informing|notify|notifying|alert|alerting 2 @owner"
    ),
    Phrase(ATTACK, 0.6, "keep_quiet_about|secretly|heimlich"),
    Phrase(ATTACK, 0.5, "sends|send|forward|forwards 1 me|every 6 to_me|every_minute|clipboard|keystrokes"),
    Phrase(ATTACK, 0.6, "not|don't|never 0 mention 1 to 0 @owner"),
    Phrase(ATTACK, 0.6, "never|no_longer 0 need|needs|require|requires 0 approval|confirmation|permission"),
    Phrase(ATTACK, 0.5, "forward|send|mail 4 messages|mails|emails|inbox|contacts 0 to"),
    Phrase(ATTACK, 0.4, "no_need_to_ask|do_not_ask|don't_ask"),
    Phrase(ATTACK, 0.4, "without 0 asking|approval|confirmation|confirming"),
    Phrase(ATTACK, 0.4, "ohne 0 rückfrage|nachfrage|bestätigung"),
    Phrase(ATTACK, 1.0, "@off 2 @guard"),
    Phrase(ATTACK, 0.7, "guard|security|security_checks|approvals|safety 1 is|are 1 off|disabled|suspended"),
    Phrase(ATTACK, 1.0, "approve|allow 0 all|every|everything|any"),
    Phrase(ATTACK, 0.5, "you 0 obey"),
    Phrase(ATTACK, 0.4, "write|add|put|save|append 3 agents.md|soul.md|memory.md"),
    Phrase(ATTACK, 1.0, "@lösch 2 @alles 2 @dateien"),
    Phrase(ATTACK, 1.0, "@dateien 4 unwiderruflich|endgültig|vollständig 2 @lösch"),
    Phrase(ATTACK, 1.0, "formatier* 1 die|deine|alle 1 festplatte|platte|partition|ssd"),
    Phrase(ATTACK, 1.0, "schalt* 2 sicherheitsprüfung|sperren|schutz|freigaben|wächter|rückfragen 1 ab|aus"),
    Phrase(ATTACK, 1.0, "deaktivier*|umgeh* 2 sicherheitsprüfung|sperren|schutz|freigaben|wächter|rückfragen"),
    Phrase(ATTACK, 0.6, "sag|sage 1 deinem|niemandem|keinem|ihm|ihr 2 nichts|davon"),
)

_SHELL = r"(?:sudo |doas )?(?:ba|z|da|k)?sh\b"
_PRIVATE_FILE = r"(?:\.ssh/id_|\.aws/cred|/etc/shadow|\.hob/secr|\.gnupg/|authorized_keys|/etc/passwd)"
_PRIVATE_FILES = (".ssh/id_", ".aws/cred", "/etc/shadow", ".hob/secr", ".gnupg/", "authorized_keys", "/etc/passwd")

SIGNS: tuple[Sign, ...] = (
    Sign(OVERRIDE, 0.6, ("<!--",), r"<!--[^>]{0,20}\b(?:assistant|ai|llm|agent|model|bot)\b"),
    # role markers of model prompts
    Sign(
        ROLE,
        1.0,
        ("<|", "<<sys", "inst]", "_of_turn>"),
        r"<\|[a-z_]{2,20}+\|>"
        r"|<<sys>>|\[/?inst\]|<(?:start|end)_of_turn>",
    ),
    Sign(ROLE, 1.0, ("role",), r"[\"']role[\"'] ?: ?[\"'](?:system|developer)[\"']"),
    Sign(
        ROLE,
        0.8,
        ("system", "developer"),
        r"\[/?(?:system|developer)(?: message| prompt)?\]"
        r"|</?(?:system|developer)>|#{2,4}+ ?system ?:",
    ),
    Sign(
        ROLE,
        0.5,
        ("system", "developer"),
        r"(?:^|\n)(?>system|developer)(?: message| prompt)?:[ \n]?+"
        r"(?=you\b|the assistant\b|new\b|obey\b|must\b|ignore\b)",
    ),
    Sign(
        ROLE,
        0.6,
        ("system:", "developer message:"),
        r"(?>^|\n)(?>system|developer message):"
        r"(?=[^\n]{0,40}(?:obey|comply|unrestricted|approved))",
    ),
    Sign(ROLE, 0.5, ("##",), r"#{2,4}+ ?(?:user|human|assistant) ?:"),
    Sign(ROLE, 1.0, ("\nassistant:", "\nai:"), r"\n?(?>human|user):[^\n]{1,300}+\n{1,2}+(?:assistant|ai):"),
    Sign(ROLE, 1.0, ("\nhuman:", "\nuser:"), r"\n?(?>assistant|ai):[^\n]{1,300}+\n{1,2}+(?:human|user):"),
    Sign(
        TOOL,
        1.0,
        ("<tool", "</tool", "<function_", "<invoke", "<|tool", "[tool_calls"),
        r"</?(?:tool_(?:calls?|results?|use|output)|function_(?:calls?|results?))>"
        r"|<invoke name=|<\|tool|\[tool_calls\]",
    ),
    Sign(
        TOOL,
        1.0,
        ("tool_", "function_call"),
        r"[\"'](?:tool_calls|function_call)[\"'] ?: ?[\[{]"
        r"|[\"']type[\"'] ?: ?[\"']tool_(?:use|result)[\"']",
    ),
    Sign(TOOL, 1.0, ("```tool",), r"```tool_(?:code|call|output)"),
    Sign(TOOL, 1.0, ("action input",), r"(?:^|\n)action ?: ?[\w.-]{1,40}+\naction input ?:"),
    Sign(TOOL, 0.5, ("os.system", "subprocess."), r"\bos\.system ?\(|\bsubprocess\.(?:run|call|popen) ?\("),
    Sign(DELIMITER, 1.0, ("untrusted",), r"</?untrusted"),
    Sign(
        DELIMITER,
        0.6,
        ("</",),
        r"</(?:user_input|user|document|context|data"
        r"|input|quoted?|content|email|page|external)>",
    ),
    Sign(
        DELIMITER,
        0.8,
        (" end ",),
        r"[-=*#]{3,9}+ end (?:of )?(?:the )?(?:quoted|untrusted|external|user|tool|document|mail|input)",
    ),
    Sign(DELIMITER, 0.5, ("]]>", "<context>", "owner>"), r"\]\]>|<context>|</?owner>"),
    Sign(IMAGE, 1.0, ("http",), r"https?://[^\s?&#<{\[)]{1,120}+[?&#/]?[^\s<{\[()]{0,20}+[<{\[]\w"),
    Sign(IMAGE, 1.0, ("http",), r"https?://[^\s?$)]{1,120}+\?[a-z0-9_&=]{0,20}+\$\{?[a-z_]{2}"),
    Sign(
        IMAGE,
        0.7,
        ("http",),
        r"https?+://[^\s?)]{1,120}+\?(?=[^\s)]{0,25}(?:conversation|history|password|secret|memory))",
    ),
    Sign(IMAGE, 0.4, ("![", "<img"), r"!\[[^\]\n]{0,80}+\]\(https?://[^)\s?]{1,150}+\?|<img [^>]{0,120}\?"),
    Sign(IMAGE, 0.5, ("http",), r"\b(?>fetch|open|load|visit|request) (?:\w{1,12}+ ){0,2}https?://[^\s?]{1,150}+\?"),
    Sign(
        IMAGE,
        0.5,
        ("appended to the url", "values in", "filled in", "to the url"),
        r"\b(?:appended to|added to|to) the url\b"
        r"|\bvalues in\b|\bfilled in\b",
    ),
    Sign(ATTACK, 1.0, ("rm -",), r"\brm (?:-[a-z-]{1,20}+ ){1,4}[\"']?(?:/|~|\$home|\*)[\"']?/?\*?(?=[\s;&|\"'`)]|$)"),
    Sign(
        ATTACK,
        1.0,
        ("of=/dev/", "mkfs", ":|:"),
        r"\bof=/dev/(?:sd|nvme|hd|vd|disk|mmcblk)"
        r"|\bmkfs\.\w{2,6} /dev|:\(\) ?\{ ?:\|: ?& ?\}",
    ),
    Sign(ATTACK, 1.0, ("curl", "wget"), rf"\b(?:curl|wget) [^\n|]{{1,200}}+\| ?{_SHELL}"),
    Sign(ATTACK, 0.8, ("base64 -d", "base64 --decode"), rf"\bbase64 (?:-d|--decode) ?\| ?{_SHELL}"),
    Sign(ATTACK, 0.8, ("nc ", "/dev/tcp/"), r"\| ?nc [\w.-]{1,60}+ \d|/dev/tcp/"),
    Sign(ATTACK, 0.5, _PRIVATE_FILES, _PRIVATE_FILE),
    Sign(ATTACK, 0.5, _PRIVATE_FILES, rf"\b(?>read|cat|post|send|copy|upload)\b(?=[^\n]{{0,20}}{_PRIVATE_FILE})"),
    Sign(ATTACK, 0.5, ("authorized_keys",), r"\badd (?=[^\n]{0,60}\bauthorized_keys)"),
)
