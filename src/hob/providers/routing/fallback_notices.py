"""Which stand-ins were told of already: an outage may last a day, and is news once for each conversation."""

from hob.core.models import ModelRequest, Remark

_MOST = 4096
_Whom = tuple[str, str, str]  # session, task, the model that was wanted


class FallbackNotices:
    """What was last said to whom. One for all sessions, in memory: after a restart it is said once more."""

    def __init__(self) -> None:
        self._last: dict[_Whom, Remark] = {}

    def is_news(self, request: ModelRequest, remark: Remark) -> bool:
        """Whether the session of this request does not know yet why `model` does not answer and which one does.

        From now on it does. A request of no session, in a person's own name, is told every time.
        """
        session = request.cache_key or ""
        if not session and request.task == "chat":
            return True
        whom = (session, request.task, dict(remark.values).get("model", ""))
        if self._last.get(whom) == remark:
            return False
        self._last.pop(whom, None)
        self._last[whom] = remark
        if len(self._last) > _MOST:
            del self._last[next(iter(self._last))]
        return True

    def answered(self, model: str) -> None:
        """This model answers (again): its next outage is another one."""
        if self._last:
            for whom in [whom for whom in self._last if whom[2] == model]:
                del self._last[whom]
