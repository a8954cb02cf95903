"""What generated Python may use: modules with the names of theirs that calculate and lead nowhere, and builtins.

A list of what is forbidden is never complete: `enum` holds `builtins` as `bltns`, `pydoc` runs programs, and parts of
`dataclasses` and `functools` evaluate texts. What is not named here may not be used.
"""

import builtins
import math
import re

_MODULES_WORDS = """
    __future__: annotations
    abc: ABC abstractmethod
    base64: b64encode b64decode urlsafe_b64encode urlsafe_b64decode standard_b64encode standard_b64decode
        b32encode b32decode b16encode b16decode b85encode b85decode
    binascii: hexlify unhexlify crc32 Error
    bisect: bisect bisect_left bisect_right insort insort_left insort_right
    calendar: monthrange isleap leapdays weekday monthcalendar timegm day_name day_abbr month_name month_abbr
        Calendar
    collections: ChainMap Counter OrderedDict UserDict UserList UserString defaultdict deque namedtuple
    collections.abc: AsyncIterable AsyncIterator Awaitable Callable Collection Container Coroutine Generator
        Hashable ItemsView Iterable Iterator KeysView Mapping MutableMapping MutableSequence MutableSet
        Reversible Sequence Set Sized ValuesView
    colorsys: rgb_to_hls hls_to_rgb rgb_to_hsv hsv_to_rgb rgb_to_yiq yiq_to_rgb
    contextlib: closing contextmanager nullcontext suppress
    copy: copy deepcopy
    csv: DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC Sniffer excel excel_tab
        reader writer
    dataclasses: FrozenInstanceError KW_ONLY asdict astuple dataclass field fields is_dataclass replace
    datetime: MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo
    decimal: Context Decimal DecimalException DivisionByZero InvalidOperation Overflow ROUND_CEILING ROUND_DOWN
        ROUND_FLOOR ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP getcontext localcontext
    difflib: Differ SequenceMatcher context_diff get_close_matches ndiff unified_diff
    enum: Enum Flag IntEnum IntFlag StrEnum auto unique
    fractions: Fraction
    functools: cache cached_property cmp_to_key lru_cache partial reduce total_ordering
    graphlib: CycleError TopologicalSorter
    hashlib: blake2b blake2s md5 sha1 sha224 sha256 sha384 sha3_256 sha3_512 sha512
    heapq: heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest
    hmac: compare_digest digest new
    html: escape unescape
    http: HTTPStatus
    io: BytesIO StringIO
    ipaddress: IPv4Address IPv4Network IPv6Address IPv6Network ip_address ip_interface ip_network
    itertools: accumulate chain combinations combinations_with_replacement compress count cycle dropwhile
        filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest
    json: JSONDecodeError JSONDecoder JSONEncoder dump dumps load loads
    numbers: Complex Integral Number Rational Real
    operator: add and_ concat contains countOf eq floordiv ge getitem gt index inv invert is_ is_not itemgetter
        le lshift lt matmul mod mul ne neg not_ or_ pos pow rshift sub truediv truth xor
    pprint: pformat pprint
    random: Random betavariate choice choices expovariate gauss getrandbits normalvariate randint random
        randrange sample seed shuffle triangular uniform
    re: A ASCII DOTALL I IGNORECASE M MULTILINE Match NOFLAG Pattern S U UNICODE VERBOSE X compile error escape
        findall finditer fullmatch match search split sub subn
    shlex: join quote split
    statistics: NormalDist StatisticsError correlation covariance fmean geometric_mean harmonic_mean
        linear_regression mean median median_grouped median_high median_low mode multimode pstdev pvariance
        quantiles stdev variance
    string: ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits printable
        punctuation whitespace
    textwrap: TextWrapper dedent fill indent shorten wrap
    time: gmtime localtime mktime monotonic monotonic_ns perf_counter perf_counter_ns sleep strftime strptime
        time time_ns
    typing: Any Callable ClassVar Concatenate Final Generic Iterable Iterator Literal LiteralString Mapping
        NamedTuple Never NewType NoReturn Optional ParamSpec Protocol Self Sequence SupportsFloat SupportsInt
        Text TypeAlias TypeGuard TypeVar TypedDict Union assert_never cast final overload
    unicodedata: bidirectional category combining decimal decomposition digit east_asian_width is_normalized
        lookup mirrored name normalize numeric
    urllib.parse: ParseResult SplitResult parse_qs parse_qsl quote quote_plus unquote unquote_plus urlencode
        urljoin urlparse urlsplit urlunparse urlunsplit
    zoneinfo: ZoneInfo ZoneInfoNotFoundError
    """
ALLOWED_MODULES = {
    "math": frozenset(name for name in dir(math) if not name.startswith("_")),
    **{
        module: frozenset(names.split())
        for module, names in re.findall(r"^ {4}([\w.]+): (.+(?:\n {8}.+)*)", _MODULES_WORDS, re.MULTILINE)
    },
}
"""Modules, with the names that may be used of each. None of them is a module, and none evaluates a text."""

_BUILTINS_WORDS = """
    False None True NotImplemented Ellipsis abs aiter all anext any ascii bin bool bytearray bytes callable chr
    classmethod complex dict divmod enumerate filter float format frozenset hash hex id int isinstance issubclass
    iter len list map max min next object oct ord pow print property range repr reversed round set slice sorted
    staticmethod str sum super tuple zip __name__ __doc__
    """
_ERRORS = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)
ALLOWED_BUILTINS = frozenset(_BUILTINS_WORDS.split()) | _ERRORS
_ELSEWHERE = "__builtins__ execfile reload copyright credits exit help license quit"
FORBIDDEN_NAMES = frozenset((*dir(builtins), *_ELSEWHERE.split())) - ALLOWED_BUILTINS - {"type", "getattr", "hasattr"}
"""Names that are not even mentioned: what may be mentioned may be called under another name."""
