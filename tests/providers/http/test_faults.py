"""What servers say when they refuse, and what we make of it."""

from datetime import UTC, datetime

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.providers.http.faults import read_failure, read_retry_after, read_stream_error

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def fail(status: int, body: str, secret: str = "", **headers: str) -> ModelError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return read_failure(status, named, body.encode(), host="example.org", now=NOW, secrets=(secret,))


@pytest.mark.parametrize(
    ("status", "body", "fault"),
    [
        (401, '{"error":{"message":"no","code":"invalid_api_key"}}', ModelFault.AUTH),
        (403, '{"detail":"Forbidden"}', ModelFault.AUTH),
        (403, '{"error":{"message":"Your input was flagged","code":403}}', ModelFault.FILTERED),
        (400, '[{"error":{"code":400,"message":"API key not valid. Pass another.","status":"X"}}]', ModelFault.AUTH),
        (402, '{"error":{"message":"Insufficient credits","code":402}}', ModelFault.BILLING),
        (
            429,
            '{"error":{"message":"No quota is left","code":"insufficient_quota"}}',
            ModelFault.BILLING,
        ),
        (429, '{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}', ModelFault.RATE_LIMIT),
        (429, "slow down", ModelFault.RATE_LIMIT),
        (404, '{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}', ModelFault.NOT_FOUND),
        (404, "<html>Not Found</html>", ModelFault.NOT_FOUND),
        (400, '{"error":{"message":"x/y is not a valid model ID","code":400}}', ModelFault.NOT_FOUND),
        (301, "", ModelFault.NOT_FOUND),
        (413, "", ModelFault.CONTEXT_OVERFLOW),
        (400, '{"error":{"message":"bad","type":"invalid_request_error"}}', ModelFault.BAD_REQUEST),
        (422, '{"detail":[{"loc":["body"],"msg":"field required"}]}', ModelFault.BAD_REQUEST),
        (400, '{"error":{"code":"content_filter","message":"The prompt was filtered"}}', ModelFault.FILTERED),
        (408, "", ModelFault.OVERLOAD),
        (409, "", ModelFault.OVERLOAD),
        (500, "", ModelFault.OVERLOAD),
        (502, "<html><h1>Bad Gateway</h1></html>", ModelFault.OVERLOAD),
        (529, '{"error":{"type":"overloaded_error"}}', ModelFault.OVERLOAD),
        (400, '{"error":{"message":"Your credit balance is too low"},"type":"error"}', ModelFault.BILLING),
        (400, '{"error":{"message":"You have reached your specified API usage limits."}}', ModelFault.BILLING),
        (404, '{"error":{"type":"not_found_error","message":"model: claude-9"}}', ModelFault.NOT_FOUND),
        (413, '{"error":{"type":"request_too_large"}}', ModelFault.CONTEXT_OVERFLOW),
        (
            429,
            '{"error":{"message":"would exceed your rate limit of 9 input tokens per minute"}}',
            ModelFault.RATE_LIMIT,
        ),
        (429, '{"error":"you have reached your weekly usage limit, please upgrade"}', ModelFault.BILLING),
        (429, '{"error":{"code":429,"message":"Your prepayment credits are depleted."}}', ModelFault.BILLING),
        (501, "", ModelFault.BAD_REQUEST),
        (204, "", ModelFault.GARBAGE),
    ],
)
def test_refusal_is_sorted_by_who_can_help(status: int, body: str, fault: ModelFault) -> None:
    assert fail(status, body).fault is fault


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."),
        (400, "context_length_exceeded"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (400, "the request exceeds the available context size. try increasing the context size"),
        (500, "the request exceeds the available context size"),
        (400, "Input token count (1200000) exceeds the maximum number of tokens allowed (1048576)"),
        (400, "Please reduce the length of the messages or completion."),
        (429, "Request too large for m in organization o on tokens per min (TPM): Limit 10000, Requested 20000"),
        (422, "Input is too long for requested model."),
        (400, "Trying to keep the first 9000 tokens when context the overflows. Larger than the context"),
        (400, "This endpoint's maximum context length is 4096 tokens"),
        (400, "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"),
        (400, "Request payload size exceeds the limit: 20971520 bytes."),
    ],
)
def test_context_overflow_is_recognised_in_many_wordings(status: int, message: str) -> None:
    assert fail(status, message).fault is ModelFault.CONTEXT_OVERFLOW


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after": "7"}, "", 7.0),
        ({"retry-after": "0.5"}, "", 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, "", 1.5),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, "", 30.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, "", 0.0),
        ({}, "Rate limit reached. Please try again in 1m30.5s.", 90.5),
        ({}, "Please retry after 20 seconds.", 20.0),
        ({}, "try again in 250ms", 0.25),
        ({}, '{"@type": "RetryInfo", "retryDelay": "35s"}', 35.0),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({"retry-after": "-3"}, "", None),
        ({}, "Limit 10 / min", None),
    ],
)
def test_wait_is_read_from_headers_and_text(headers: dict[str, str], message: str, seconds: float | None) -> None:
    assert read_retry_after(headers, message, NOW) == seconds


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (
            403,
            '{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not '
            'supported","type":"request_forbidden"}}',
            "403 Country, region, or territory not supported",
        ),
        (403, '{"type":"error","error":{"type":"forbidden","message":"Request not allowed"}}', "Request not allowed"),
        (
            400,
            '{"error":{"code":400,"message":"User location is not supported for the API use.",'
            '"status":"FAILED_PRECONDITION"}}',
            "User location is not supported",
        ),
        (
            403,
            "<html><h1>Error 1009</h1>The owner of this website has banned the country or region your IP is in.</html>",
            "banned the country or region",
        ),
    ],
)
def test_refused_region_is_not_reported_as_a_refused_key(status: int, body: str, said: str) -> None:
    error = fail(status, body)
    assert error.fault is ModelFault.AUTH
    assert "does not serve your country or network" in str(error)
    assert said in str(error)
    assert "key" not in str(error)


def test_wait_is_reported_for_temporary_faults() -> None:
    assert fail(429, "{}", retry_after="3").retry_after == 3.0
    assert fail(503, "{}", retry_after="4").retry_after == 4.0
    assert fail(401, "{}", retry_after="5").retry_after is None


@pytest.mark.parametrize(("per", "fault"), [("PerMinute", ModelFault.RATE_LIMIT), ("PerDay", ModelFault.BILLING)])
def test_short_quota_limit_of_gemini_is_a_rate_limit(per: str, fault: ModelFault) -> None:
    violation = f'{{"violations":[{{"quotaId":"GenerateRequests{per}PerProjectPerModel-FreeTier"}}]}}'
    details = f'[{violation},{{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.4s"}}]'
    message = "You exceeded your current quota, please check your plan and billing details."
    error = fail(429, f'{{"error":{{"code":429,"message":"{message}","details":{details}}}}}')
    assert error.fault is fault
    assert error.retry_after == (34.4 if fault is ModelFault.RATE_LIMIT else None)


@pytest.mark.parametrize("key", ["sk-proj-abcdefgh12345", "plain-local-secret", "gsk_0123456789abcdef"])
def test_key_that_the_server_echoes_is_never_shown(key: str) -> None:
    error = fail(401, f'{{"error":{{"message":"Incorrect API key: {key}. Sent: Bearer {key}"}}}}', secret=key)
    assert key not in str(error)


@pytest.mark.parametrize(
    "key",
    [
        *(
            "AIzaSyA-half-a-key",
            "ghp_0123456789",
            "github_pat_11AAAA",
            "hf_abcdefgh",
            "sk-ant-****wxyz",
            "glpat-12345678",
        ),
        *("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx", "AKIAIOSFODNN7EXAMPLE", "ya29.a0AfH6SMB", "pplx-12345678"),
    ],
)
def test_text_shaped_like_a_key_is_masked_though_it_is_unknown(key: str) -> None:
    assert key[-6:] not in str(fail(401, f'{{"error":{{"message":"no such key: {key} (see the docs)"}}}}'))


def test_ordinary_words_are_not_masked() -> None:
    said = "Asiatische keyboards, the FAQ. and eyJ at https://docs.example.org/keys@v2"
    assert said in str(fail(400, f'{{"error":{{"message":"{said}"}}}}'))


def test_login_in_an_address_is_not_shown() -> None:
    assert "hush" not in str(fail(502, "cannot reach http://proxy:hush@10.0.0.1:3128/ now"))


def test_secret_that_holds_another_is_hidden_whole() -> None:
    error = read_stream_error("no Token hush-hush here", host="h", secrets=("hush", "Token hush-hush"))
    assert "(no ••• here)" in str(error)


def test_body_is_cut_and_stripped_of_its_tags() -> None:
    said = str(fail(502, "<html><style>x{}</style><p>" + "word " * 5000))
    assert len(said) < 400
    assert "<" not in said
    assert "x{}" not in said


def test_error_inside_a_stream_is_classified_too() -> None:
    def fault_of(error: object) -> ModelFault:
        return read_stream_error(error, host="h").fault

    assert fault_of({"message": "Overloaded", "type": "overloaded_error"}) is ModelFault.OVERLOAD
    assert fault_of({"message": "slow", "code": 429}) is ModelFault.RATE_LIMIT
    assert fault_of({"message": "Rate limit hit", "code": "rate_limit_exceeded"}) is ModelFault.RATE_LIMIT
    assert fault_of("maximum context length is 5") is ModelFault.CONTEXT_OVERFLOW
    assert fault_of({"message": "boom"}) is ModelFault.OVERLOAD
    assert fault_of({"message": "model x not found"}) is ModelFault.NOT_FOUND


def test_short_value_does_not_mask_letters() -> None:
    assert "no such page" in str(read_stream_error("no such page", host="h", secrets=("a", "pag")))
