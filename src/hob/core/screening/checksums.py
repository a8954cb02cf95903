"""Check digits, which distinguish real numbers from random ones. All functions take digits (and letters) without
separators.
"""

from collections.abc import Mapping

_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)

IBAN_LENGTHS: Mapping[str, int] = {
    code: length
    for length, codes in {
        15: "NO",
        16: "BE",
        18: "DK FI FK FO GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "BI DJ FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU YE",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for code in codes.split()
}
"""Lengths by country. Source: SWIFT, IBAN Registry, https://www.swift.com/standards/data-standards/iban."""


def is_luhn_valid(digits: str) -> bool:
    """Whether the Luhn check passes (ISO/IEC 7812-1, annex B)."""
    odd = sum(map(int, digits[-1::-2]))
    return (odd + sum(_DOUBLED[int(digit)] for digit in digits[-2::-2])) % 10 == 0


def is_card_number(digits: str) -> bool:
    """Whether the digits have an issuer's prefix, one of its lengths, and pass the Luhn check.

    Source: https://en.wikipedia.org/wiki/Payment_card_number#Issuer_identification_number_(IIN)
    """
    size, two, four = len(digits), int(digits[:2]), int(digits[:4])
    if digits[0] == "4":
        fits = size in (13, 16, 19)
    elif 51 <= two <= 55 or 2221 <= four <= 2720:
        fits = size == 16
    elif two in (34, 37):
        fits = size == 15
    elif two in (36, 38, 39) or 3000 <= four <= 3059 or four // 10 == 309:
        fits = 14 <= size <= 19
    elif 3528 <= four <= 3589 or two in (62, 65) or four == 6011 or 6440 <= four <= 6499:
        fits = 16 <= size <= 19
    else:
        fits = four in (5018, 5020, 5038, 5893, 6304, 6759, 6761, 6762, 6763) and 12 <= size <= 19
    return fits and is_luhn_valid(digits) and len(set(digits)) > 1


def is_iban(text: str) -> bool:
    """Whether it is an IBAN (ISO 13616): the country's length, and remainder 1 modulo 97 (ISO 7064)."""
    if IBAN_LENGTHS.get(text[:2]) != len(text):
        return False
    number = "".join(str(int(sign, 36)) for sign in text[4:] + text[:4])
    return int(number) % 97 == 1


def is_german_tax_id(digits: str) -> bool:
    """Whether it is a Steuer-ID: one of ten digits occurs two or three times, the others at most once; ISO 7064 mod
    11,10.

    Source: https://download.elster.de/download/schnittstellen/Pruefung_der_Steuer_und_Steueridentifikatsnummer.pdf
    """
    head = digits[:10]
    counts = sorted(map(head.count, set(head)), reverse=True)
    if head[0] == "0" or counts[0] not in (2, 3) or counts[1] != 1 or any(digit * 3 in head for digit in head):
        return False
    product = 10
    for digit in head:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[10])


def is_swiss_ahv(digits: str) -> bool:
    """Whether it is an AHV number: 13 digits, starting with 756, with the check digit of an EAN-13."""
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits[:12]))
    return digits.startswith("756") and len(digits) == 13 and -total % 10 == int(digits[12])


def is_spanish_dni(text: str) -> bool:
    """Whether it is a DNI: eight digits and the letter for their remainder modulo 23."""
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(text[:8]) % 23] == text[8]


def is_french_nir(text: str) -> bool:
    """Whether it is a NIR: thirteen digits (2A and 2B for Corsica) and a two-digit key, 97 minus their remainder."""
    number = text[:13].replace("2A", "19").replace("2B", "18")
    return number.isdecimal() and 97 - int(number) % 97 == int(text[13:])


def is_brazilian_cpf(digits: str) -> bool:
    """Whether it is a CPF: nine digits and two check digits modulo 11."""
    if len(set(digits)) == 1:
        return False
    for size in (9, 10):
        total = sum(int(digit) * (size + 1 - place) for place, digit in enumerate(digits[:size]))
        if total * 10 % 11 % 10 != int(digits[size]):
            return False
    return True
