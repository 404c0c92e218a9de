"""Which model an agent has, and what an error says when it has none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.model_resolution import NoModelError, ResolvedModel, resolve_model
from blocks.model_role import fallback_chain, normalized_overrides
from blocks.providers import read_providers
from tests.blocks.recorded import DECISIONS, cases


def provider(provider_id: str, **more: Any) -> dict[str, Any]:
    raw = {"id": provider_id, "name": provider_id.upper(), "baseURL": "https://p.example/v1", "apiKey": "secret-key"}
    return {**raw, "defaultModel": f"{provider_id}-default", "createdAt": "2025-01-01T00:00:00.000Z", **more}


GLOBAL = {"defaultProviderId": "main", "providers": [provider("main"), provider("lib"), provider("off", enabled=False)]}


def resolved(role: str | None, settings: dict[str, Any], raw: object = GLOBAL) -> ResolvedModel:
    return resolve_model(role, settings, read_providers(raw))


@cases("fallback_chain")
def test_recorded_chains(case: dict[str, Any]):
    assert list(fallback_chain(case["input"]["role"])) == case["expected"]["chain"]


@cases("normalize_override_keys", {"random 3": DECISIONS[7]})
def test_recorded_keys(case: dict[str, Any]):
    normalized = normalized_overrides(case["input"]["overrides"])
    assert dict(normalized) == case["expected"]["overrides"]
    assert list(normalized) == case["expected"]["keyOrder"]


@cases("resolve_model")
def test_recorded(case: dict[str, Any]):
    given = case["input"]
    settings = given["settings"] if given["storyGiven"] and given["storyExists"] else None
    providers = read_providers(given["globalConfig"])
    expected = case["expected"]
    if "error" in expected:
        with pytest.raises(NoModelError):
            resolve_model(given["role"], settings, providers)
        return
    found = resolve_model(given["role"], settings, providers)
    assert {
        "providerId": found.provider_id,
        "modelId": found.model_id,
        "temperature": found.temperature,
        "providerName": found.provider.name,
        "baseURL": found.provider.base_url,
        "headers": dict(found.provider.custom_headers),
    } == expected


@pytest.mark.parametrize("first", ["old", "new"])
def test_the_present_key_wins_wherever_it_stands(first: str):
    pair = {"librarianChat": {"modelId": "old"}, "librarian.chat": {"modelId": "new"}}
    overrides = pair if first == "old" else dict(reversed(pair.items()))
    assert normalized_overrides(overrides) == {"librarian.chat": {"modelId": "new"}}
    assert resolved("librarian.chat", {"modelOverrides": overrides}).model_id == "new"


def test_a_far_override_comes_before_a_near_old_field():
    settings = {
        "modelOverrides": {"generation": {"providerId": "main", "modelId": "far"}},
        "librarianChatProviderId": "lib",
    }
    found = resolved("librarian.chat", settings)
    assert (found.provider_id, found.model_id, found.source, found.found_in) == (
        "main",
        "far",
        "override",
        "generation",
    )


def test_a_model_without_a_provider_rides_on_an_old_field_too():
    settings = {
        "modelOverrides": {"librarian": {"modelId": "chosen"}},
        "librarianChatProviderId": "lib",
        "librarianChatModelId": "old",
    }
    found = resolved("librarian.chat", settings)
    assert (found.provider_id, found.model_id, found.source) == ("lib", "chosen", "old-field")


def test_a_provider_that_cannot_be_used_is_passed_over_and_named_and_its_model_goes_with_it():
    settings = {
        "modelOverrides": {
            "librarian.chat": {"providerId": "off", "modelId": "of-off"},
            "librarian": {"providerId": "gone"},
        }
    }
    found = resolved("librarian.chat", settings)
    assert (found.provider_id, found.model_id) == ("main", "main-default")
    assert list(map(str, found.passed_over)) == [
        "modelOverrides['librarian.chat']: provider 'off' is disabled",
        "modelOverrides['librarian']: there is no provider 'gone'",
    ]


def test_one_invalid_provider_costs_only_itself():
    raw = {"defaultProviderId": "bad", "providers": [provider("bad", apiKey=""), provider("lib")]}
    assert resolved("x", {"modelOverrides": {"x": {"providerId": "lib"}}}, raw).provider_id == "lib"
    with pytest.raises(NoModelError, match="provider 'bad' is not valid: apiKey: must not be empty"):
        resolved("x", {}, raw)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"baseURL": "nope"}, "baseURL"),
        ({"temperature": 2.5}, "temperature: must be 0 to 2"),
        ({"createdAt": "yesterday"}, "createdAt"),
        ({"enabled": "yes"}, "enabled"),
        ({"id": ""}, "provider number 1 is not valid: id"),
    ],
)
def test_what_is_wrong_with_a_provider_is_said(wrong: dict[str, Any], said: str):
    (fault,) = read_providers({"providers": [provider("p", **wrong)]}).faults
    assert said in fault


def test_the_error_names_the_role_the_chain_and_what_each_place_lacked():
    raw = {"providers": [provider("off", enabled=False)]}
    with pytest.raises(NoModelError) as caught:
        resolved("librarian.chat", {"modelOverrides": {"librarian": {"providerId": "off"}}}, raw)
    text = str(caught.value)
    assert "no model for 'librarian.chat'. Asked along 'librarian.chat' → 'librarian' → 'generation'" in text
    assert "modelOverrides['librarian.chat']: no provider" in text
    assert "modelOverrides['librarian']: provider 'off' is disabled" in text
    assert "librarianChatProviderId: not set" in text
    assert "the default provider: none is chosen" in text


def test_a_key_is_in_no_text():
    found = resolved("x", {})
    assert "secret-key" not in repr(found) + repr(found.provider) + repr(read_providers(GLOBAL))
    (fault,) = read_providers({"providers": [provider("p", baseURL="x")]}).faults
    assert "secret-key" not in fault


JUNK = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3),
    lambda part: (
        st.lists(part, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                [
                    "modelOverrides",
                    "generation",
                    "providerId",
                    "modelId",
                    "temperature",
                    "providers",
                    "defaultProviderId",
                    "id",
                ]
            ),
            part,
        )
    ),
    max_leaves=6,
)


@given(st.sampled_from(["", "generation", "librarian.chat", "a..b"]), JUNK, JUNK)
def test_whatever_the_settings_hold_there_is_a_model_or_an_error_that_says_why(role: str, settings: Any, raw: Any):
    try:
        found = resolve_model(role, settings if isinstance(settings, dict) else None, read_providers(raw))
    except NoModelError as error:
        assert error.tried  # noqa: PT017 - either of both is right
    else:
        assert found.provider.enabled
