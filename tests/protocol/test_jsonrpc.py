"""JSON-RPC messages. Cases [M] 116 to 133 of the existing engine, the envelope of MCP, and RFC 8259 at its edges."""

from __future__ import annotations

import json

import pytest

from protocol.jsonrpc import (
    Batch,
    ErrorCode,
    Notification,
    ParseFault,
    Request,
    Response,
    encode,
    encode_batch,
    encode_error,
    encode_notification,
    encode_result,
    parse,
)
from protocol.limits import Limits


def fault(body: bytes, limits: Limits | None = None) -> ParseFault:
    found = parse(body) if limits is None else parse(body, limits)
    assert isinstance(found, ParseFault), found
    return found


def test_a_method_without_an_id_is_a_notification() -> None:  # [M] 116, 125
    assert parse(b'{"jsonrpc":"2.0","method":"notifications/initialized"}') == Notification(
        "notifications/initialized", {}
    )


def test_a_method_with_an_id_is_a_request_and_no_response() -> None:  # [M] 124, 130
    found = parse(b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":1}}')
    assert found == Request(7, "ping", {"a": 1})
    assert not isinstance(found, Response)


def test_an_object_without_jsonrpc_is_a_fault_with_a_reason() -> None:  # [M] 118
    found = fault(b'{"id":3,"method":"ping"}')
    assert (found.code, found.id) == (ErrorCode.INVALID_REQUEST, 3)
    assert '"jsonrpc": "2.0"' in found.reason


def test_a_result_is_built_with_its_id() -> None:  # [M] 119
    assert json.loads(encode_result(5, b'{"ok":true}')) == {"jsonrpc": "2.0", "id": 5, "result": {"ok": True}}


def test_an_error_carries_its_data() -> None:  # [M] 121
    built = json.loads(encode_error("a", ErrorCode.INVALID_PARAMS, "bad", {"uri": "x"}))
    assert built["error"] == {"code": -32602, "message": "bad", "data": {"uri": "x"}}


def test_an_error_without_a_readable_id_has_no_id_member() -> None:
    assert json.loads(encode_error(None, ErrorCode.PARSE_ERROR, "bad")) == {
        "jsonrpc": "2.0",
        "error": {"code": -32700, "message": "bad"},
    }


def test_half_characters_in_the_text_of_an_error_are_replaced() -> None:
    assert (
        json.loads(encode_error(1, ErrorCode.INTERNAL_ERROR, "no file 'a\udcff'"))["error"]["message"] == "no file 'a?'"
    )


def test_a_nested_result_survives_the_way_out_and_in() -> None:  # [M] 131
    value = {"a": [1, 2.5, None, True, {"b": "Zoë\n\u2028"}], "c": {}}
    assert parse(encode_result("x", encode(value))) == Response("x", value)


@pytest.mark.parametrize(
    "built",
    [
        encode_result(1, encode({"text": "one\ntwo\r\n"})),
        encode_error(1, -32602, "one\ntwo"),
        encode_notification("notifications/progress", {"message": "one\ntwo"}),
        encode_batch([encode_result(1, b"{}"), encode_result(2, b"{}")]),
    ],
)
def test_no_message_holds_a_newline(built: bytes) -> None:  # [M] 132
    assert b"\n" not in built
    assert b"\r" not in built
    json.loads(built)


def test_the_codes_are_those_of_the_standard() -> None:  # [M] 133
    assert ErrorCode.PARSE_ERROR == -32700
    assert ErrorCode.INVALID_REQUEST == -32600
    assert ErrorCode.METHOD_NOT_FOUND == -32601
    assert ErrorCode.INVALID_PARAMS == -32602
    assert ErrorCode.INTERNAL_ERROR == -32603


def test_zero_and_the_empty_string_are_real_ids() -> None:
    assert parse(b'{"jsonrpc":"2.0","id":0,"method":"ping"}') == Request(0, "ping", {})
    assert parse(b'{"jsonrpc":"2.0","id":"","method":"ping"}') == Request("", "ping", {})


def test_the_number_one_and_the_text_one_are_two_ids() -> None:
    number, text = (parse(b'{"jsonrpc":"2.0","id":%b,"method":"ping"}' % raw) for raw in (b"1", b'"1"'))
    assert number != text


@pytest.mark.parametrize("raw", [b"9007199254740993", b"-9223372036854775807", b"9223372036854775807"])
def test_a_whole_number_beyond_a_double_is_echoed_exactly(raw: bytes) -> None:
    found = parse(b'{"jsonrpc":"2.0","id":%b,"method":"ping"}' % raw)
    assert isinstance(found, Request)
    assert encode_result(found.id, b"{}").startswith(b'{"jsonrpc":"2.0","id":%b,' % raw)


@pytest.mark.parametrize("raw", [b"null", b"1.5", b"1.0", b"1e3", b"true", b"[]", b"{}", b"9223372036854775808"])
def test_a_request_with_a_bad_id_is_refused_and_never_a_notification(raw: bytes) -> None:
    found = fault(b'{"jsonrpc":"2.0","id":%b,"method":"tools/call"}' % raw)
    assert (found.code, found.id) == (ErrorCode.INVALID_REQUEST, None)
    assert "id must be" in found.reason


def test_an_overlong_id_is_refused_with_the_limit() -> None:
    found = fault(json.dumps({"jsonrpc": "2.0", "id": "x" * 1025, "method": "ping"}).encode())
    assert "1024" in found.reason


@pytest.mark.parametrize("method", [None, 1, ["ping"], {}])
def test_a_method_must_be_a_string_and_the_id_is_still_echoed(method: object) -> None:
    found = fault(json.dumps({"jsonrpc": "2.0", "id": 9, "method": method}).encode())
    assert (found.code, found.id) == (ErrorCode.INVALID_REQUEST, 9)
    assert "method must be a string" in found.reason


@pytest.mark.parametrize("params", [None, 1, [1], "x"])
def test_params_must_be_an_object_or_absent(params: object) -> None:
    found = fault(json.dumps({"jsonrpc": "2.0", "id": 9, "method": "ping", "params": params}).encode())
    assert (found.code, found.id) == (ErrorCode.INVALID_REQUEST, 9)
    assert "params must be an object" in found.reason


@pytest.mark.parametrize("extra", [{"result": {}}, {"error": {}}])
def test_a_method_together_with_an_answer_is_refused(extra: dict[str, object]) -> None:
    assert fault(json.dumps({"jsonrpc": "2.0", "id": 9, "method": "ping", **extra}).encode()).id == 9


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":null}', Response(1)),
        (
            b'{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"x"}}',
            Response("a", error={"code": 1, "message": "x"}),
        ),
        (b'{"jsonrpc":"2.0","id":null,"error":{"code":1}}', Response(None, error={"code": 1})),
        (b'{"jsonrpc":"2.0","error":{"code":1}}', Response(None, error={"code": 1})),
    ],
)
def test_an_answer_is_a_result_or_an_error(body: bytes, found: Response) -> None:
    assert parse(body) == found


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","id":1,"result":{},"error":{}}',
        b'{"jsonrpc":"2.0","id":1,"error":"bad"}',
        b'{"jsonrpc":"2.0","result":{}}',
        b'{"jsonrpc":"2.0","id":null,"result":{}}',
        b'{"jsonrpc":2.0,"id":1,"method":"ping"}',
        b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
        b"{}",
        b"null",
        b'"ping"',
        b"7",
    ],
)
def test_what_is_json_but_no_message_is_an_invalid_request(body: bytes) -> None:
    assert fault(body).code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"{'a':1}",
        b'{"a":1,}',
        b'{"a":1} x',
        b"\xef\xbb\xbf{}",
        b'{"jsonrpc":"2.0","method":"\xff"}',
        b'{"jsonrpc":"2.0","method":"\xed\xa0\x80"}',
        b'{"jsonrpc":"2.0","method":"\\ud800"}',
        b'{"jsonrpc":"2.0","method":"p","params":{"a":NaN}}',
        b'{"jsonrpc":"2.0","method":"p","params":{"a":-Infinity}}',
        b'{"jsonrpc":"2.0","method":"p","params":{"a":1e400}}',
        b'{"jsonrpc":"2.0","method":"p","params":{"a":[-1E+00999]}}',
        b'{"jsonrpc":"2.0","method":"p","params":{"a":%b}}' % (b"9" * 400),
        b'{"jsonrpc":"2.0","method":"p","params":{"a":%b.5}}' % (b"9" * 400),
        b'{"jsonrpc":"2.0","method":"p","params":{"a":%b}}' % (b"9" * 100_000),
    ],
)
def test_what_is_no_json_is_a_parse_error(body: bytes) -> None:
    found = fault(body)
    assert (found.code, found.id) == (ErrorCode.PARSE_ERROR, None)
    assert found.reason


def test_text_that_only_looks_like_a_large_number_passes() -> None:
    found = parse(b'{"jsonrpc":"2.0","method":"p","params":{"a":"1e400","b":1e300,"c":0e999}}')
    assert found == Notification("p", {"a": "1e400", "b": 1e300, "c": 0.0})


def test_a_surrogate_pair_is_one_character() -> None:
    assert parse(b'{"jsonrpc":"2.0","method":"\\ud83d\\ude00"}') == Notification("😀", {})


def test_of_a_member_that_appears_twice_the_last_one_counts() -> None:
    assert parse(b'{"jsonrpc":"2.0","method":"a","method":"b"}') == Notification("b", {})


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
@pytest.mark.parametrize("depth", [65, 201, 100_000, 1_000_000])
def test_a_body_nested_too_deep_is_refused_without_a_crash(opening: bytes, depth: int) -> None:
    closing = b"]" if opening == b"[" else b"}"
    found = fault(opening * depth + b"1" + closing * depth)
    assert found.code is ErrorCode.INVALID_REQUEST
    assert "deeper than 64 levels" in found.reason


def test_the_deepest_legal_body_passes() -> None:
    # The message and its params are two of the 64 levels.
    body = b'{"jsonrpc":"2.0","method":"p","params":{"a":%b1%b}}' % (b"[" * 62, b"]" * 62)
    assert isinstance(parse(body), Notification)
    assert isinstance(parse(body.replace(b"[1", b"[[1]")), ParseFault)


@pytest.mark.parametrize("text", ["[{" * 500, "]}" * 500, '\\"[' * 500, "[\\", '"[' * 500])
def test_brackets_inside_strings_are_no_nesting(text: str) -> None:
    wide = [[]] * 100
    message = {"jsonrpc": "2.0", "method": text, "params": {text: [text, wide]}}
    assert isinstance(parse(json.dumps(message).encode()), Notification)


def test_brackets_inside_strings_hide_no_nesting() -> None:
    body = b'{"jsonrpc":"2.0","method":"p","params":{"a":%b1%b}}' % (b'["]",' * 70, b',"["]' * 70)
    assert "deeper" in fault(body).reason


def test_a_batch_keeps_its_order_and_a_faulty_item_does_not_spoil_it() -> None:
    found = parse(
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"},7,{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":2,"result":1}]'
    )
    assert isinstance(found, Batch)
    assert [type(item) for item in found.items] == [Request, ParseFault, Notification, Response]


def test_an_empty_batch_is_a_batch() -> None:
    assert parse(b"[]") == Batch(())


def test_a_batch_inside_a_batch_is_a_faulty_item() -> None:
    found = parse(b"[[]]")
    assert isinstance(found, Batch)
    assert isinstance(found.items[0], ParseFault)


def test_an_overlong_batch_is_refused_with_both_lengths() -> None:
    found = fault(b"[" + b",".join([b'{"jsonrpc":"2.0","method":"n"}'] * 4) + b"]", Limits(batch_length=3))
    assert found.code is ErrorCode.INVALID_REQUEST
    assert "4" in found.reason
    assert "3" in found.reason


def test_numbers_that_are_not_finite_leave_as_null() -> None:
    assert encode({"a": float("nan"), "b": float("inf")}) == b'{"a":null,"b":null}'


def test_null_members_of_plain_values_are_kept() -> None:
    assert encode({"a": None}) == b'{"a":null}'


def test_messages_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Request(1, "ping", {}).id = 2  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "4"])
def test_a_limit_must_be_a_positive_whole_number(value: object) -> None:
    with pytest.raises(ValueError, match="nesting"):
        Limits(nesting=value)  # pyright: ignore[reportArgumentType]
