"""A bank, an office, a travel agency and a team chat, as the specs of their tools describe them."""

from collections.abc import Mapping

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import Effect, Tier, ToolSpec

_OWN = frozenset({Effect.READS_PRIVATE})
_MIXED = frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED})
_FOREIGN = frozenset({Effect.READS_UNTRUSTED})
_WEB = frozenset({Effect.READS_UNTRUSTED, Effect.COMMUNICATES})
_SENDS = frozenset({Effect.COMMUNICATES})
_ORDERS = frozenset({Effect.COMMUNICATES, Effect.WRITES_FINALLY})
_INVITES = frozenset({Effect.COMMUNICATES, Effect.WRITES})
_WRITES = frozenset({Effect.WRITES})
_FINAL = frozenset({Effect.WRITES_FINALLY})


def _spec(name: str, effects: frozenset[Effect], roles: ArgumentRole | None = None) -> ToolSpec:
    tier = Tier.READ if effects <= _MIXED | _WEB and Effect.COMMUNICATES not in effects - _WEB else Tier.WRITE
    return ToolSpec(name, "", {"type": "object"}, tier=tier, effects=effects, roles=roles)


def _plain(*names: str) -> ArgumentRole:
    return ArgumentRole(plain=names)


_DAYS = ("start_day", "end_day", "start_time", "end_time", "date")

BANK = (
    _spec("get_balance", _OWN, _plain()),
    _spec("get_iban", _OWN, _plain()),
    _spec("get_user_info", _OWN, _plain()),
    _spec("get_most_recent_transactions", _MIXED, _plain("n")),
    _spec("get_scheduled_transactions", _MIXED, _plain()),
    _spec("read_file", _MIXED, ArgumentRole(paths=("file_path",))),
    _spec(
        "send_money",
        _ORDERS,
        ArgumentRole(
            recipients=("recipient",), amounts=("amount",), bodies=("subject",), plain=("date",),
            says="pay {amount} to {recipient} ({subject})",
        ),
    ),
    _spec(
        "schedule_transaction",
        _ORDERS,
        ArgumentRole(
            recipients=("recipient",), amounts=("amount",), bodies=("subject",), plain=("date", "recurring"),
            says="pay {amount} to {recipient} from {date} on",
        ),
    ),
    _spec(
        "update_scheduled_transaction",
        _ORDERS,
        ArgumentRole(
            recipients=("recipient",), amounts=("amount",), bodies=("subject",), plain=("date", "recurring"),
            things=("id",), says="change the standing order {id}",
        ),
    ),
    _spec("update_password", _FINAL, ArgumentRole(bodies=("password",), says="change the password")),
    _spec(
        "update_user_info",
        _FINAL,
        ArgumentRole(bodies=("street", "city", "first_name", "last_name"), says="change your address at the bank"),
    ),
)  # fmt: skip

OFFICE = (
    _spec("get_unread_emails", _MIXED, _plain()),
    _spec("search_emails", _MIXED, _plain("query", "sender")),
    _spec("search_contacts", _OWN, _plain("query")),
    _spec("get_current_day", frozenset(), _plain()),
    _spec("get_day_calendar_events", _MIXED, _plain("day")),
    _spec("search_calendar_events", _MIXED, _plain("query", "date")),
    _spec("list_files", _MIXED, _plain()),
    _spec("search_files", _MIXED, _plain("query")),
    _spec("get_file", _MIXED, ArgumentRole(things=("name",))),
    _spec("create_file", _WRITES, _plain("name", "content")),
    _spec("append_to_file", _WRITES, ArgumentRole(things=("name",), plain=("content",))),
    _spec("delete_file", _FINAL, ArgumentRole(things=("name",), says="delete {name}")),
    _spec("delete_email", _FINAL, ArgumentRole(things=("email_id",), says="delete the mail {email_id}")),
    _spec(
        "share_file",
        _SENDS,
        ArgumentRole(recipients=("email",), things=("name",), plain=("permission",), says="share {name} with {email}"),
    ),
    _spec(
        "send_email",
        _ORDERS,
        ArgumentRole(
            recipients=("recipients", "cc", "bcc"), bodies=("subject", "body"), sources=("attachments",),
            says="mail {recipients}",
        ),
    ),
    _spec(
        "create_calendar_event",
        _INVITES,
        ArgumentRole(
            recipients=("participants",), bodies=("title", "description", "location"), plain=_DAYS, invites=True,
            says="invite {participants} to {title}",
        ),
    ),
    _spec(
        "add_calendar_event_participants",
        _INVITES,
        ArgumentRole(recipients=("participants",), things=("event",), says="invite {participants} to {event}"),
    ),
    _spec(
        "reschedule_calendar_event", _WRITES, ArgumentRole(things=("event",), plain=_DAYS, says="move {event}")
    ),
    _spec("cancel_calendar_event", _FINAL, ArgumentRole(things=("event",), says="cancel {event}")),
)  # fmt: skip

TRAVEL = (
    _spec("get_travel_profile", _OWN, _plain()),
    _spec("get_hotels", _FOREIGN, _plain("city", "budget")),
    _spec("get_hotel_reviews", _FOREIGN, _plain("names")),
    _spec("get_hotel_prices", _FOREIGN, _plain("names")),
    _spec("get_restaurants", _FOREIGN, _plain("city", "cuisine")),
    _spec("get_restaurant_reviews", _FOREIGN, _plain("names")),
    _spec("get_car_rentals", _FOREIGN, _plain("city", "start_time", "end_time")),
    _spec("get_flights", _FOREIGN, _plain("departure", "arrival", "date")),
    _spec(
        "reserve_hotel", _ORDERS, ArgumentRole(names=("hotel",), plain=_DAYS, says="book {hotel} from {start_day} on")
    ),
    _spec(
        "reserve_restaurant", _ORDERS, ArgumentRole(names=("restaurant",), plain=_DAYS, says="book at {restaurant}")
    ),
    _spec(
        "reserve_car_rental", _ORDERS, ArgumentRole(names=("company",), plain=_DAYS, says="rent a car of {company}")
    ),
    *(spec for spec in OFFICE if spec.name in ("send_email", "create_calendar_event", "get_day_calendar_events")),
)  # fmt: skip

CHAT = (
    _spec("get_channels", _OWN, _plain()),
    _spec("get_users_in_channel", _OWN, ArgumentRole(names=("channel",))),
    _spec("read_channel_messages", _MIXED, ArgumentRole(names=("channel",))),
    _spec("read_inbox", _MIXED, ArgumentRole(names=("user",))),
    _spec("get_webpage", _WEB, ArgumentRole(urls=("url",))),
    _spec(
        "post_webpage", _ORDERS, ArgumentRole(sent_to=("url",), bodies=("content",), says="post to {url}")
    ),
    _spec(
        "send_direct_message",
        _SENDS,
        ArgumentRole(names=("recipient",), bodies=("body",), says="write to {recipient}"),
    ),
    _spec(
        "send_channel_message",
        _SENDS,
        ArgumentRole(names=("channel",), bodies=("body",), says="write into {channel}"),
    ),
    _spec(
        "add_user_to_channel",
        _SENDS,
        ArgumentRole(names=("user", "channel"), says="let {user} into {channel}"),
    ),
    _spec(
        "invite_user",
        _SENDS,
        ArgumentRole(recipients=("user_email",), names=("user",), says="invite {user_email}"),
    ),
    _spec("remove_user", _FINAL, ArgumentRole(things=("user",), says="remove {user}")),
)  # fmt: skip

SERVICES: Mapping[str, tuple[ToolSpec, ...]] = {"bank": BANK, "office": OFFICE, "travel": TRAVEL, "chat": CHAT}
