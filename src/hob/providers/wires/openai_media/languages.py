"""The languages that Whisper names, by their ISO 639-1 codes: its answers tell the one in words, requests the other.

Names: https://github.com/openai/whisper/blob/main/whisper/tokenizer.py
"""

_NAMES = """
afrikaans:af albanian:sq amharic:am arabic:ar armenian:hy assamese:as azerbaijani:az bashkir:ba basque:eu
belarusian:be bengali:bn bosnian:bs breton:br bulgarian:bg burmese:my catalan:ca chinese:zh croatian:hr
czech:cs danish:da dutch:nl english:en estonian:et faroese:fo finnish:fi french:fr galician:gl georgian:ka
german:de greek:el gujarati:gu hausa:ha hebrew:he hindi:hi hungarian:hu icelandic:is indonesian:id
italian:it japanese:ja javanese:jv kannada:kn kazakh:kk khmer:km korean:ko lao:lo latin:la latvian:lv
lingala:ln lithuanian:lt luxembourgish:lb macedonian:mk malagasy:mg malay:ms malayalam:ml maltese:mt
maori:mi marathi:mr mongolian:mn nepali:ne norwegian:no nynorsk:nn occitan:oc pashto:ps persian:fa
polish:pl portuguese:pt punjabi:pa romanian:ro russian:ru sanskrit:sa serbian:sr shona:sn sindhi:sd
sinhala:si slovak:sk slovenian:sl somali:so spanish:es sundanese:su swahili:sw swedish:sv tagalog:tl
tajik:tg tamil:ta tatar:tt telugu:te thai:th tibetan:bo turkish:tr turkmen:tk ukrainian:uk urdu:ur uzbek:uz
vietnamese:vi welsh:cy yiddish:yi yoruba:yo
"""
_CODES = dict(pair.split(":") for pair in _NAMES.split())


def language_code(named: object) -> str:
    """The code of a language that a server named, in words or by its code; empty where nobody knows it."""
    if not isinstance(named, str):
        return ""
    name = named.strip().lower()
    if name in _CODES:
        return _CODES[name]
    code = name.partition("-")[0]
    return code if len(code) == 2 and code.isalpha() and code.isascii() else ""
