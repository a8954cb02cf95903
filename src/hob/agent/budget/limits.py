"""Settings of spending, `[spending]`: the limits, whom they apply to, when they reset and when they warn."""

from collections.abc import Iterator
from dataclasses import field
from datetime import datetime, tzinfo

from hob.core.ids import SessionKey, TurnId
from hob.core.model_names import matches_model
from hob.core.models import CallFilter
from hob.core.money import MICRO
from hob.core.settings import setting
from hob.core.trust.labels import SenderClass
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class PeriodLimits:
    """Limits of one model, or of all models whose references begin alike, in dollars."""

    daily: float | None = setting(None, "Maximum dollars per day; not set: no limit.", at_least=0)
    monthly: float | None = setting(None, "Maximum dollars per month; not set: no limit.", at_least=0)


@dataclass(frozen=True, slots=True)
class SenderLimits:
    """Limits of all senders of one class together, in dollars."""

    daily: float | None = setting(None, "Maximum dollars per day; not set: no limit.", at_least=0)
    monthly: float | None = setting(None, "Maximum dollars per month; not set: no limit.", at_least=0)
    per_turn: float | None = setting(None, "Maximum dollars one turn may cost; not set: no limit.", at_least=0)


@dataclass(frozen=True, slots=True)
class SenderClasses:
    """Limits by sender class; an answer to several senders counts for the least known of them."""

    owner: SenderLimits = setting(SenderLimits(), "Your own messages.")
    member: SenderLimits = setting(SenderLimits(), "Messages of people you admitted.")
    stranger: SenderLimits = setting(SenderLimits(), "Messages of everyone else.")


@dataclass(frozen=True, slots=True)
class SpendingSettings:
    """Spending limits, in dollars. Days begin at midnight in `agent.timezone`."""

    daily: float | None = setting(
        None, "Maximum dollars per day; 0: only free calls; not set: no limit.", at_least=0, stored=True
    )
    monthly: float | None = setting(
        None, "Maximum dollars per month; 0: only free calls; not set: no limit.", at_least=0, stored=True
    )
    per_session: float | None = setting(
        None, "Maximum total dollars one conversation may cost; not set: no limit.", at_least=0, stored=True
    )
    per_turn: float | None = setting(
        None, "Maximum dollars one turn may cost; not set: no limit.", at_least=0, stored=True
    )
    daily_tokens: int | None = setting(
        None,
        "Maximum tokens per day, sent and received, checked before each request; not set: no limit.",
        at_least=0,
        stored=True,
    )
    models: dict[str, PeriodLimits] = setting(
        {}, "Limits by model: provider/model, or the model's name alone; a name may end in *."
    )
    senders: SenderClasses = setting(SenderClasses(), "Limits by sender class.")
    warn_at: float = setting(
        0.8,
        "Fraction of a limit at which you are warned (0.8 is 80 %); 1: never.",
        at_least=0.01,
        at_most=1,
        stored=True,
    )
    on_unknown: str = setting(
        "allow",
        "What happens with a model of unknown price while a limit is set; allowed calls count as free.",
        one_of=("allow", "refuse"),
    )


@dataclass(frozen=True, slots=True)
class SpendingCaller:
    """Origin of a request: session, sender class, the turn if there is one, and the models that may answer."""

    session: SessionKey
    sender: SenderClass
    models: tuple[str, ...]
    turn: TurnId | None = None


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit: the setting's key, micro-dollars, and the calls that count towards it."""

    key: str
    maximum: int
    scope: CallFilter = field(default_factory=CallFilter)

    def applies_to(self, caller: SpendingCaller) -> bool:
        """Whether this caller's requests count towards the limit."""
        scope = self.scope
        return (
            scope.get("session", caller.session) == caller.session
            and scope.get("sender", caller.sender) == caller.sender
            and scope.get("turn", caller.turn) == caller.turn
            and ("model" not in scope or any(matches_model(scope["model"], model) for model in caller.models))
        )


def general_limits(settings: SpendingSettings, now: datetime, timezone: tzinfo | None = None) -> Iterator[Limit]:
    """Yield the daily and monthly limits of all callers. Days begin at midnight in this zone; None is the machine's."""
    today = _midnight(now, timezone)
    since = {"daily": today.timestamp(), "monthly": today.replace(day=1).timestamp()}

    def periods(key: str, limits: SpendingSettings | PeriodLimits | SenderLimits, scope: CallFilter) -> Iterator[Limit]:
        for name, dollars in (("daily", limits.daily), ("monthly", limits.monthly)):
            if dollars is not None:
                yield _limit(f"{key}.{name}", dollars, {**scope, "since": since[name]})

    yield from periods("spending", settings, {})
    for pattern, limits in settings.models.items():
        yield from periods(f'spending.models."{pattern}"', limits, {"model": pattern})
    for cls in SenderClass:
        yield from periods(f"spending.senders.{cls}", getattr(settings.senders, cls), {"sender": cls})


def start_of_today(now: datetime, timezone: tzinfo | None = None) -> float:
    """Return when today began in this zone, in Unix seconds."""
    return _midnight(now, timezone).timestamp()


def _midnight(now: datetime, timezone: tzinfo | None) -> datetime:
    return now.astimezone(timezone).replace(hour=0, minute=0, second=0, microsecond=0, fold=0, tzinfo=timezone)


def limits_for(
    settings: SpendingSettings, caller: SpendingCaller, now: datetime, timezone: tzinfo | None = None
) -> list[Limit]:
    """Return all limits of this caller, the narrowest first."""
    found = []
    if caller.turn is not None:
        scope: CallFilter = {"turn": caller.turn}
        of_class: SenderLimits = getattr(settings.senders, caller.sender)
        if of_class.per_turn is not None:
            found.append(_limit(f"spending.senders.{caller.sender}.per_turn", of_class.per_turn, scope))
        if settings.per_turn is not None:
            found.append(_limit("spending.per_turn", settings.per_turn, scope))
    if settings.per_session is not None:
        found.append(session_limit(settings.per_session, caller.session))
    found += [limit for limit in general_limits(settings, now, timezone) if limit.applies_to(caller)]
    return found


def session_limit(dollars: float, session: SessionKey) -> Limit:
    """Return the limit of one session."""
    return _limit("spending.per_session", dollars, {"session": session})


def _limit(key: str, dollars: float, scope: CallFilter) -> Limit:
    return Limit(key, round(dollars * MICRO), scope)
