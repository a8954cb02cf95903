"""Settings of the rules that choose a model. Imports only the standard library."""

from hob.core.models import Thinking
from hob.core.screening.patterns import compile_pattern, compile_words
from hob.core.settings import setting
from hob.core.translation.language import join_texts, translatable
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class ClassifierRule:
    """One rule. It matches if the newest message meets all of its conditions; empty fields are not checked."""

    name: str = setting("", "Name of the rule in explanations.")
    model: str = setting("", "The model that answers, as provider/model or an alias.")
    thinking: str = setting("", "How long that model thinks.", one_of=("", *(level.value for level in Thinking)))
    any: list[str] = setting([], "Your message contains one of these words or phrases.")
    all: list[str] = setting([], "Your message contains all of these words and phrases.")
    pattern: str = setting("", "Your message matches this regular expression.")
    max_chars: int = setting(0, "Your message has at most this many characters; 0: any number.", at_least=0)
    min_chars: int = setting(0, "Your message has at least this many characters; 0: any number.", at_least=0)
    task: str = setting("", "The request is for this job, e.g. chat or summary.")
    session: str = setting("", "The conversation has this key; a key that ends in * matches as a prefix.")
    images: bool = setting(False, "Messages with images may match too.")

    def __post_init__(self) -> None:
        if not self.model:
            raise ValueError(translatable("a rule needs a model"))
        if self.pattern:
            try:
                compile_pattern(self.pattern)
            except ValueError as error:
                raise ValueError(join_texts(": ", ("pattern", str(error)))) from None
        compile_words([*self.any, *self.all])


@dataclass(frozen=True, slots=True)
class ClassifierSettings:
    """Rules that choose the model by the content of the message; the first match wins."""

    enabled: bool = setting(False, "Whether the rules are used.")
    rules: list[ClassifierRule] = setting([], "The rules, in order.")
