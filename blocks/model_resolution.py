"""Which provider and model an agent has. Owns the search: overrides, then the fields of old, then the default.

A story's settings are read as they are: a value of another type than expected counts as not given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from blocks.model_role import GENERATION, OLD_FIELDS, fallback_chain, normalized_overrides
from blocks.providers import Provider, Providers
from engine.errors import ConflictError


@dataclass(frozen=True, slots=True)
class Tried:
    """A place that was asked and gave nothing, and why."""

    place: str
    lacked: str

    def __str__(self) -> str:
        return f"{self.place}: {self.lacked}"


class NoModelError(ConflictError):
    """Raised when no usable provider was found. The text names the role, its chain, and what each place lacked."""

    def __init__(self, role: str, chain: tuple[str, ...], tried: Iterable[Tried], faults: tuple[str, ...]) -> None:
        self.role = role
        self.chain = chain
        self.tried = tuple(tried)
        self.faults = faults
        asked = "; ".join(map(str, self.tried))
        invalid = f". Left out: {'; '.join(faults)}" if faults else ""
        super().__init__(
            f"no model for {role!r}. Asked along {' → '.join(repr(key) for key in chain)}: {asked}{invalid}. "
            "Enable a provider and make it the default, or choose one for a key of the chain"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedModel:
    """The model of a role, and what decided it.

    `found_in` is the key whose override or old field named the provider, or `default`. `passed_over` are places nearer
    than that which name a provider that cannot be used: the user should hear of them.
    """

    provider: Provider = field(repr=False)
    model_id: str
    temperature: float | None
    found_in: str
    source: Literal["override", "old-field", "default"]
    passed_over: tuple[Tried, ...] = ()

    @property
    def provider_id(self) -> str:
        """The provider's id."""
        return self.provider.id


def resolve_model(role: str | None, settings: Mapping[str, object] | None, providers: Providers) -> ResolvedModel:
    """The model for a role, which is an agent's name or another key; None is `generation`.

    `settings` are those of the story, None without one. The nearest override that names a usable provider wins; where
    none does, the nearest old field; then the default provider. A model that an override names without a provider rides
    on the provider that is found farther out. Without a model the provider's default one is taken. The temperature is
    the winning override's, else the nearest one along the chain, else the provider's. Raises `NoModelError`.
    """
    key = GENERATION if role is None else role
    return _Search(key, settings or {}, providers).result()


class _Search:
    def __init__(self, role: str, settings: Mapping[str, object], providers: Providers) -> None:
        self._role = role
        self._chain = fallback_chain(role)
        self._settings = settings
        self._overrides = normalized_overrides(_mapping(settings.get("modelOverrides")))
        self._providers = providers
        self._tried: list[Tried] = []
        self._passed_over: list[Tried] = []
        self._model: str | None = None

    def result(self) -> ResolvedModel:
        found = self._from_overrides() or self._from_old_fields() or self._from_default()
        if found is None:
            raise NoModelError(self._role, self._chain, self._tried, self._providers.faults)
        return found

    def _from_overrides(self) -> ResolvedModel | None:
        for key in self._chain:
            override = _mapping(self._overrides.get(key))
            place = f"modelOverrides[{key!r}]"
            model = _text(override, "modelId")
            provider = self._usable(_text(override, "providerId"), place, "no provider")
            if provider is not None:
                return self._resolved(provider, self._model or model, key, "override")
            if self._model is None and not _text(override, "providerId"):
                self._model = model
        return None

    def _from_old_fields(self) -> ResolvedModel | None:
        for key in self._chain:
            if key in OLD_FIELDS:
                provider_field, model_field = OLD_FIELDS[key]
                provider = self._usable(_text(self._settings, provider_field), provider_field, "not set")
                if provider is not None:
                    model = self._model or _text(self._settings, model_field)
                    return self._resolved(provider, model, key, "old-field")
        return None

    def _from_default(self) -> ResolvedModel | None:
        provider = self._usable(self._providers.default_id, "the default provider", "none is chosen")
        return None if provider is None else self._resolved(provider, self._model, "default", "default")

    def _usable(self, provider_id: str | None, place: str, lacked: str) -> Provider | None:
        if provider_id is None:
            self._tried.append(Tried(place, lacked))
            return None
        provider = self._providers.usable(provider_id)
        if provider is None:
            self._passed_over.append(Tried(place, self._providers.why_not(provider_id)))
            self._tried.append(self._passed_over[-1])
        return provider

    def _resolved(
        self, provider: Provider, model: str | None, key: str, source: Literal["override", "old-field", "default"]
    ) -> ResolvedModel:
        return ResolvedModel(
            provider=provider,
            model_id=model or provider.default_model,
            temperature=self._temperature(key if source == "override" else None, provider),
            found_in=key,
            source=source,
            passed_over=tuple(self._passed_over),
        )

    def _temperature(self, winner: str | None, provider: Provider) -> float | None:
        for key in (winner, *self._chain):
            temperature = None if key is None else _number(_mapping(self._overrides.get(key)).get("temperature"))
            if temperature is not None:
                return temperature
        return provider.temperature


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _text(members: Mapping[str, object], name: str) -> str | None:
    value = members.get(name)
    return value if isinstance(value, str) and value else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value
