"""What setting up says, in the language of whoever sets up.

Sentences are written in English where they arise, as the guard's are; a program that reads the JSON gets them so.
"""

from hob.cli.onboarding.german import GERMAN, STEPS
from hob.guard.wording.reasons import in_language


def told(text: str, language: str) -> str:
    """The sentence in this language."""
    return in_language(text, language, GERMAN)


def step_name(step: str, language: str) -> str:
    """What people call a step."""
    return STEPS.get(step, step) if language == "de" else step
