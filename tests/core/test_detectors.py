"""What is found, and what is not taken for it. Every key and number here is made up or a vendor's own example."""

import pytest

from hob.core.screening import checksums
from hob.core.screening.detectors import find_sensitive, lower, merge
from hob.core.screening.kinds import PII, SECRETS, SensitiveFinding, SensitiveKind

ALL = frozenset(SensitiveKind)
JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
BODY = "MIIEpAIBAAKCAQEA7bq7Yy3Qx9zXoJ5eXbq7Yy3Qx9zXoJ5eX\nqx9zXoJ5eXbq7Yy3Qx9zXoJ5eXbq7Yy3Qx9zX=="
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----"

POSITIVES = [
    (SensitiveKind.EMAIL, "write to {} today", "anna.meier@firma-xy.de"),
    (SensitiveKind.EMAIL, "<{}>", "o'brien+lists@mail.example.co.uk"),
    (SensitiveKind.EMAIL, "{}.", "jürgen@münchen.de"),
    (SensitiveKind.EMAIL, "(mailto:{})", "x_y-z@sub.domain.museum"),
    (SensitiveKind.PHONE, "Ruf an: {}!", "+49 171 1234567"),
    (SensitiveKind.PHONE, "{}", "+4917112345678"),
    (SensitiveKind.PHONE, "{}", "+49 (0)30 901820"),
    (SensitiveKind.PHONE, "{}", "0049 30 90182-0"),
    (SensitiveKind.PHONE, "Handy {}, danke", "0171 1234567"),
    (SensitiveKind.PHONE, "Büro {}", "030/12345678"),
    (SensitiveKind.PHONE, "{} or later", "(555) 234-5678"),
    (SensitiveKind.PHONE, "{}", "555-234-5678"),
    (SensitiveKind.PHONE, "{}", "+1 415 555 2671"),
    (SensitiveKind.PHONE, "{}", "1-800-555-0199"),
    (SensitiveKind.PHONE, "{}", "01 23 45 67 89"),
    (SensitiveKind.PHONE, "{}", "020 7946 0958"),
    (SensitiveKind.PHONE, "{}", "07700 900123"),
    (SensitiveKind.PHONE, "{}", "+33 1 23 45 67 89"),
    (SensitiveKind.PHONE, "Tel.: {}", "01711234567"),
    (SensitiveKind.PHONE, "phone: {}", "555 234 5678"),
    (SensitiveKind.CARD, "card {} exp 04/28", "4111 1111 1111 1111"),
    (SensitiveKind.CARD, "{}", "4111-1111-1111-1111"),
    (SensitiveKind.CARD, "{}", "378282246310005"),
    (SensitiveKind.CARD, "{}", "3782 822463 10005"),
    (SensitiveKind.CARD, "{},", "5555555555554444"),
    (SensitiveKind.CARD, "{}", "6011000990139424"),
    (SensitiveKind.CARD, "{}", "3530111333300000"),
    (SensitiveKind.IBAN, "auf {}.", "DE89 3704 0044 0532 0130 00"),
    (SensitiveKind.IBAN, "{}", "GB82WEST12345698765432"),
    (SensitiveKind.IBAN, "{}", "FR14 2004 1010 0505 0001 3M02 606"),
    (SensitiveKind.IBAN, "{} bitte", "CH93 0076 2011 6238 5295 7"),
    (SensitiveKind.SSN, "SSN {}", "123-45-6789"),
    (SensitiveKind.TAX_ID, "Steuer-ID {}", "86 095 742 719"),
    (SensitiveKind.TAX_ID, "{}", "47036892816"),
    (SensitiveKind.NATIONAL_ID, "AHV {}", "756.9217.0769.85"),
    (SensitiveKind.NATIONAL_ID, "DNI {}", "12345678Z"),
    (SensitiveKind.NATIONAL_ID, "CPF {}", "111.444.777-35"),
    (SensitiveKind.NATIONAL_ID, "NIR {}", "2 95 10 99 126 111 93"),
    (SensitiveKind.IP_ADDRESS, "from {}:", "81.169.145.72"),
    (SensitiveKind.IP_ADDRESS, "at {}.", "8.8.8.8"),
    (SensitiveKind.IP_ADDRESS, "{}", "2a00:1450:4001:81b::200e"),
    (SensitiveKind.API_KEY, "key {} here", "sk-ant-api03-Ab3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"),
    (SensitiveKind.API_KEY, "'{}'", "sk-proj-Ab3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"),
    (SensitiveKind.API_KEY, "{}", "AKIAIOSFODNN7EXAMPLE"),
    (SensitiveKind.API_KEY, "{}.", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
    (SensitiveKind.API_KEY, "{}", "github_pat_11ABCDEFG0x3Yz9Qw8Er7Ty6_Ui5Op4As3Df2Gh1"),
    (SensitiveKind.API_KEY, "{}", "glpat-x9Kd3Lm5Np7Qr1St3Uv5"),
    (SensitiveKind.API_KEY, "{}", "xoxb-123456789012-a1B2c3D4e5F6g7H8"),
    (SensitiveKind.API_KEY, "{}", "AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"),
    (SensitiveKind.API_KEY, "{}", "hf_aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1w"),
    (SensitiveKind.API_KEY, "{}", "npm_aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1w2X"),
    (SensitiveKind.API_KEY, "{}", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"),
    (SensitiveKind.API_KEY, "bot {}", "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw4"),
    (SensitiveKind.JWT, "token: {}", JWT),
    (SensitiveKind.PRIVATE_KEY, "my key:\n{}\nthanks", PEM),
    (SensitiveKind.PRIVATE_KEY, '"{}"', PEM.replace("\n", "\\n")),
    (SensitiveKind.PRIVATE_KEY, "{}", PEM.partition("\n-----END")[0]),
    (SensitiveKind.PRIVATE_KEY, "{}", "AGE-SECRET-KEY-1QL3Z7HJY54PW3HYWW5AYYFG7ZQGVC7W3J2ELW8ZMRJ2KG5SFN9AQ"),
    (SensitiveKind.BEARER, "Authorization: Bearer {}", "mF_9.B5f-4.1JqMabcd12"),
    (SensitiveKind.BEARER, "authorization: basic {}", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
    (SensitiveKind.PASSWORD, "password = {}", "hunter2"),
    (SensitiveKind.PASSWORD, 'DB_PASSWORD="{}"', "s3cr3t pass"),
    (SensitiveKind.PASSWORD, '{{"password": "{}"}}', "Tr0ub4dor&3"),
    (SensitiveKind.PASSWORD, "my password is {}", "Tr0ub4dor&3"),
    (SensitiveKind.PASSWORD, "Das Passwort lautet: {}", "Sommer2026!"),
    (SensitiveKind.PASSWORD, "mysql --password {} -u root", "x9!kd3"),
    (SensitiveKind.PASSWORD, "postgres://app:{}@db.internal:5432/app", "pa55word"),
    (SensitiveKind.PASSWORD, "https://x.test/login?password={}&next=1", "gr33nTea"),
    (SensitiveKind.API_KEY, "{}", "AQ.Ab8RN6Kx3mQ9vT2wZ7yL4pJ1sD5fG8hC0bN6rE3uI9oA2kX7"),
    (SensitiveKind.API_KEY, "TAVILY {}", "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"),
    (SensitiveKind.PASSWORD, "curl -u admin:{} https://x.test/api", "hunter2abc"),
    (SensitiveKind.PASSWORD, "curl -s --user 'admin:{}' https://x.test/api", "correcthorse"),
    (SensitiveKind.PASSWORD, "mysqldump -u root -p{} shop > dump.sql", "hunter2abc"),
    (SensitiveKind.PASSWORD, "sshpass -p {} ssh root@host", "hunter2abc"),
    (SensitiveKind.PASSWORD, "my PIN is {}", "4711"),
    (SensitiveKind.PASSWORD, "Meine PIN lautet: {}.", "081512"),
    (SensitiveKind.SECRET, 'api_key: "{}"', "9f86d081884c7d659a2feaa0c55ad015"),
    (SensitiveKind.SECRET, "AWS_SECRET_ACCESS_KEY={}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    (SensitiveKind.SECRET, "client_secret = '{}'", "q8N7b6V5c4X3z2A1s9D8f7G6"),
]

NEGATIVES = [
    "See logo@2x.png and @types/node, foo@1.2.3, and ask @anna.",
    "git clone git@github.com:anna/hob.git; ssh root@host; ssh://deploy@host.example.com/x",
    "On 2026-01-02 10:30:45 it took 1234567 ms; id 20260102103045 and 1700000000000.",
    "ISBN 978-3-16-148410-0, order 4711-2026-0815, tracking 00340434161094042557.",
    "12 345 678 people, 1.234.567,89 EUR, 3.14159265358979, 1,000,000 and 512 256 1024 2048.",
    "Card 4111 1111 1111 1112 and 1234 5678 9012 3456 are no cards; nor is 0000 0000 0000 0000.",
    "DE89 3704 0044 0532 0130 01 is no account; neither is AB12CDEF34567890.",
    "000-12-3456, 666-12-3456, 912-34-5678 and 123-00-4567 were never given out.",
    "Version 1.2.3.4, v10.20.30.40, hosts 127.0.0.1, 192.168.0.1, 10.0.0.7 and mask 255.255.255.0.",
    "At 10:30:45 or 2001:db8::1; MAC 00:1a:2b:3c:4d:5e; range 1-800 and 01.02.2026 10:30.",
    "01-02-2026 10:15 to 03-02-2026 11:45; 0.123456789; +100 200; +1.5; -123456789.",
    "Steuer-ID 86095742718 has a wrong check digit; 12345678901 has none.",
    "The sk-loading-indicator-animation-class and sk-learn; task-force-one-two-three-four.",
    "password: required, password=None, password = os.environ['X'], password: str, password = config.password",
    "Passwords must have 8 characters. The password is wrong. Forgot password? password: ********",
    '{"password": "Enter your password", "token": "string", "key": "value"}',
    "PASSWORD=$DB_PASSWORD pass: 12 of 14 tests, password=<your password>, pwd = ${PWD}",
    "key: my-long-config-name-of-the-service token_count: 123456789012345678 author = somebody_with_a_long_name",
    "cache key: 123e4567-e89b-12d3-a456-426614174000, publicKeyToken=b77a5c561934e089",
    "Bearer authentication-is-required-for-this; the bearer of this letter; basic training",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEA7bq7Yy3Qx9zXoJ5eXbq7Yy3Qx\n-----END CERTIFICATE-----",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b and sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e",
    "curl -u admin https://x.test; curl -u $NAME:$PASSWORD https://x.test\ndocker run -u 1000:1000 nginx",
    "mysql -u root -p shop; mysql --port 3306 -P 3307; mysqldump -p$PASSWORD; mkdir -p some/folder",
    "The pin is 3 mm long; spinning: 4711 times; GPIO pin 1234; pin: 12; PIN is 4711.50 euros",
    "eyJ is how base64 of JSON begins. https://example.com:8080/a@b and http://host:80/path",
    "Der Schlüssel liegt unter der Matte. Das Wort 'Kennwort' steht hier ohne Wert: siehe unten.",
]


@pytest.mark.parametrize(("kind", "around", "value"), POSITIVES, ids=lambda value: str(value)[:30])
def test_planted_values_are_found_and_nothing_else(kind: SensitiveKind, around: str, value: str) -> None:
    text = around.format(value)
    start = text.index(value)
    assert find_sensitive(text, ALL) == (SensitiveFinding(kind, start, start + len(value)),)


@pytest.mark.parametrize("text", NEGATIVES, ids=lambda text: text[:40])
def test_lookalikes_are_left_alone(text: str) -> None:
    assert [text[each.start : each.end] for each in find_sensitive(text, ALL)] == []


def test_detectors_find_only_what_is_asked_for() -> None:
    text = "password = hunter2, anna@firma.de"
    assert {each.kind for each in find_sensitive(text, PII)} == {SensitiveKind.EMAIL}
    assert {each.kind for each in find_sensitive(text, SECRETS)} == {SensitiveKind.PASSWORD}
    assert find_sensitive(text, ()) == ()


def test_several_findings_are_in_order() -> None:
    text = "anna@firma.de 0171 1234567 4111111111111111 bob@firma.de"
    assert [each.kind for each in find_sensitive(text, PII)] == [
        SensitiveKind.EMAIL,
        SensitiveKind.PHONE,
        SensitiveKind.CARD,
        SensitiveKind.EMAIL,
    ]


def test_positions_are_right_if_lower_case_is_longer() -> None:
    text = "\u0130\u0130\u0130 password = hunter2"
    assert len(lower(text)) == len(text)
    (found,) = find_sensitive(text, SECRETS)
    assert text[found.start : found.end] == "hunter2"


def test_overlapping_findings_merge_into_the_most_sensitive_kind() -> None:
    found = [
        SensitiveFinding(SensitiveKind.PHONE, 3, 9),
        SensitiveFinding(SensitiveKind.API_KEY, 0, 4),
        SensitiveFinding(SensitiveKind.EMAIL, 9, 12),
    ]
    assert merge(found) == (SensitiveFinding(SensitiveKind.API_KEY, 0, 9), SensitiveFinding(SensitiveKind.EMAIL, 9, 12))


@pytest.mark.parametrize("digits", ["86095742719", "47036892816", "65929970489"])
def test_published_tax_ids_are_valid(digits: str) -> None:
    assert checksums.is_german_tax_id(digits)


@pytest.mark.parametrize(
    ("check", "number"),
    [
        (checksums.is_luhn_valid, "79927398713"),
        (checksums.is_card_number, "4222222222222"),
        (checksums.is_iban, "MT84MALT011000012345MTLCAST001S"),
        (checksums.is_iban, "NO9386011117947"),
        (checksums.is_swiss_ahv, "7569217076985"),
        (checksums.is_brazilian_cpf, "52998224725"),
    ],
)
def test_wrong_check_digit_is_invalid(check: object, number: str) -> None:
    assert callable(check)
    assert check(number)
    place = max(n for n, sign in enumerate(number) if sign.isdigit())
    wrong = [f"{number[:place]}{digit}{number[place + 1 :]}" for digit in "0123456789" if digit != number[place]]
    assert [each for each in wrong if check(each)] == []
