"""No form of a secret passes the mask, whatever surrounds it and however the text is split; everything else passes."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from hob.guard.screening.masking.mask import MASKED, Mask, find_unfolded, forms_of, is_maskable

SIGNS = 'aB3-/+"\\ü% \n'
VALUES = st.text(SIGNS, min_size=8, max_size=30).filter(is_maskable)
PERIODIC = st.builds(lambda part, times: part * times, st.text("ab1-", min_size=4, max_size=5), st.integers(2, 4))
SECRETS = st.lists(VALUES | PERIODIC.filter(is_maskable), min_size=1, max_size=4)


@st.composite
def told(draw: st.DrawFn) -> tuple[list[str], str]:
    """Secrets, and a text in which their forms, parts of them and other text alternate."""
    secrets = draw(SECRETS)
    forms = sorted({form for value in secrets for form in forms_of(value)})
    form = st.sampled_from(forms)
    part = st.builds(lambda form, at, to: form[at:to], form, st.integers(0, 8), st.integers(1, 40))
    return secrets, "".join(draw(st.lists(form | part | st.text(SIGNS, max_size=6), max_size=12)))


def mask_of(secrets: list[str]) -> Mask:
    return Mask({str(number): value for number, value in enumerate(secrets)})


@given(told())
def test_no_form_of_a_secret_passes_the_mask(case: tuple[list[str], str]) -> None:
    secrets, text = case
    shown = mask_of(secrets)(text).split(MASKED)
    for form in {form for value in secrets for form in forms_of(value)}:
        assert not any(form in part for part in shown)


@given(told())
def test_mask_covers_exactly_what_a_plain_search_finds(case: tuple[list[str], str]) -> None:
    secrets, text = case
    covered = [False] * len(text)
    for form in {form for value in secrets for form in forms_of(value)}:
        at = text.find(form)
        while at >= 0:
            covered[at : at + len(form)] = [True] * len(form)
            at = text.find(form, at + 1)
    spans = mask_of(secrets).find(text)
    assert [any(start <= at < end for start, end in spans) for at in range(len(text))] == covered


@given(told(), st.lists(st.integers(1, 7), min_size=1))
def test_stream_output_does_not_depend_on_the_split(case: tuple[list[str], str], sizes: list[int]) -> None:
    secrets, text = case
    mask = mask_of(secrets)
    stream, shown, at, turn = mask.stream(), "", 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        shown += stream.feed(text[at : at + size])
        at, turn = at + size, turn + 1
    whole = text
    for start, end in reversed(mask.find(text)):
        whole = f"{whole[:start]}{MASKED}{whole[end:]}"
    assert shown + stream.finish() == whole


@given(
    VALUES, st.binary(max_size=90), st.binary(max_size=9), st.integers(12, 80), st.sampled_from(("\n", "\r\n", "\n  "))
)
def test_base64_is_masked_however_its_lines_are_wrapped(
    value: str, before: bytes, after: bytes, width: int, end: str
) -> None:
    coded = base64.b64encode(before + value.encode() + after).decode()
    lines = end.join(coded[at : at + width] for at in range(0, len(coded), width))
    assert MASKED in Mask({"key": value})(f"It says:\n{lines}\nSo far.")


@given(told())
def test_unfolding_never_fails(case: tuple[list[str], str]) -> None:
    secrets, text = case
    mask = mask_of(secrets)
    assert all(0 <= start < end <= len(text) for start, end in find_unfolded(text, mask.find))


@given(VALUES, st.binary(max_size=7), st.binary(max_size=7))
def test_base64_with_a_secret_anywhere_in_it_is_masked(value: str, before: bytes, after: bytes) -> None:
    coded = base64.b64encode(before + value.encode() + after).decode()
    assert MASKED in Mask({"key": value})(coded)
