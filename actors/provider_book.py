"""The user's providers of models as they are kept: what is configured, and apart from that their secrets.

Owns how the two are taken apart and put together, every change, and what may be shown. Touches no file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit

from actors.secret import Secret
from blocks.issue import InvalidBlockDataError, Issue
from blocks.providers import Provider, Providers, read_providers
from engine.errors import ConflictError, InvalidArgumentError, NotFoundError

MOST_PROVIDERS = 100
"""Providers of one user."""

MOST_CHARACTERS = 2000
"""Of a name, a URL, a model: each stands in one line."""

MOST_SECRET_CHARACTERS = 8000
"""Of a key and of the value of a header. Longer headers are refused by servers."""

MOST_HEADERS = 20
"""Headers of one provider."""

NO_KEY = "none"
"""The key of a provider on this machine that has none: local servers take any."""

FIELDS = ("name", "preset", "baseURL", "apiKey", "defaultModel", "enabled", "customHeaders", "temperature")
"""What can be said of a provider."""

KEY, HEADERS = "apiKey", "customHeaders"
"""The two of them that are secrets."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADER_VALUE = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")
_KEY = re.compile(r"[\x21-\x7e]+")

_OURS = frozenset({"host", "content-length", "content-type", "transfer-encoding", "connection", "accept-encoding"})
"""Headers that the request itself has."""

_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class ProviderSecrets:
    """What opens a provider. The headers may be keys as well, so they count as secrets."""

    key: Secret | None = None
    headers: Mapping[str, Secret] = field(default_factory=dict[str, Secret], repr=False)


NO_SECRETS = ProviderSecrets()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRow:
    """A provider as it may be shown: whether it has a key, and never which. `fault` is why it cannot be used."""

    id: str
    name: str
    base_url: str
    default_model: str
    enabled: bool
    temperature: float | None
    preset: str | None
    created_at: str
    has_key: bool
    header_names: tuple[str, ...]
    is_default: bool
    fault: str | None

    def to_json(self) -> dict[str, Any]:
        """The row as the API shows it."""
        return {
            "id": self.id,
            "name": self.name,
            "baseURL": self.base_url,
            "defaultModel": self.default_model,
            "enabled": self.enabled,
            "temperature": self.temperature,
            "preset": self.preset,
            "createdAt": self.created_at,
            "hasKey": self.has_key,
            "headerNames": list(self.header_names),
            "isDefault": self.is_default,
            "fault": self.fault,
        }


@dataclass(frozen=True, slots=True)
class ProviderBook:
    """Every provider, valid or not, in its order. `others` is what else the configuration file holds."""

    entries: tuple[Any, ...] = field(default=(), repr=False)
    default_id: str | None = None
    secrets: Mapping[str, ProviderSecrets] = field(default_factory=dict[str, ProviderSecrets], repr=False)
    others: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    def providers(self) -> Providers:
        """Those that can be used, with their keys, and what is wrong with the others."""
        whole = [self._whole(entry) for entry in self.entries]
        read = read_providers({"providers": whole, "defaultProviderId": self.default_id})
        faults = {one.id: fault for one in read.providers if (fault := _unusable(one)) is not None}
        named = tuple(f"provider {name!r} is not valid: {fault}" for name, fault in faults.items())
        usable = tuple(one for one in read.providers if one.id not in faults)
        return Providers(usable, read.default_id, (*read.faults, *named))

    def rows(self) -> tuple[ProviderRow, ...]:
        """All of them as they may be shown."""
        return tuple(self._row(entry, index) for index, entry in enumerate(self.entries))

    def row(self, provider_id: str) -> ProviderRow:
        """The first one of that id. Raises `NotFoundError`."""
        known = self._known(provider_id)
        return next(row for row in self.rows() if row.id == known)

    def with_provider(self, provider_id: str, raw: Mapping[str, Any], now: str) -> ProviderBook:
        """Add a provider, or replace what is said of one.

        Secrets that are not named stay as they were, unless the address is another: a key is for whom it was given to.
        Null removes one. The first provider that there is becomes the default one. Raises `InvalidBlockDataError`.
        """
        if _ID.fullmatch(provider_id) is None:
            raise InvalidArgumentError(
                f"a provider cannot have the id {provider_id[:80]!r}: letters, digits, '.', '_' and '-', at most 64"
            )
        before = self._entry(provider_id)
        if before is None and len(self.entries) >= MOST_PROVIDERS:
            raise ConflictError(f"there are {MOST_PROVIDERS} providers, and no more are kept; delete one first")
        _check(raw)
        secrets = self._secrets_after(provider_id, before, raw)
        created = _text(before, "createdAt") or now
        entry = {"id": provider_id, "name": provider_id, "enabled": True, **raw, "createdAt": created}
        entry.pop(KEY, None)
        entry.pop(HEADERS, None)
        entries = tuple(entry if one is before else one for one in self.entries)
        after = replace(
            self,
            entries=entries if before is not None else (*self.entries, entry),
            secrets=MappingProxyType({**self.secrets, provider_id: secrets}),
        )
        checked = Provider.from_json(after._whole(entry))
        fault = _unusable(checked)
        if fault is not None:
            raise InvalidArgumentError(fault)
        return after if after._names_a_provider(after.default_id) else replace(after, default_id=provider_id)

    def without_provider(self, provider_id: str) -> ProviderBook:
        """Take every provider of that id away, with its secrets. Raises `NotFoundError`."""
        self._known(provider_id)
        return replace(
            self,
            entries=tuple(one for one in self.entries if _text(one, "id") != provider_id),
            secrets=MappingProxyType({name: kept for name, kept in self.secrets.items() if name != provider_id}),
            default_id=None if self.default_id == provider_id else self.default_id,
        )

    def with_default(self, provider_id: str | None) -> ProviderBook:
        """Choose the default provider; None for none. Raises `NotFoundError`."""
        return replace(self, default_id=None if provider_id is None else self._known(provider_id))

    def _whole(self, entry: Any) -> Any:
        """An entry with its secrets, as the providers are read."""
        if not isinstance(entry, Mapping):
            return entry
        members = dict(members_of(cast("object", entry)))
        kept = self.secrets.get(_text(members, "id") or "", NO_SECRETS)
        if kept.key is not None:
            members[KEY] = kept.key.reveal()
        elif KEY not in members and _is_local(_text(members, "baseURL")):
            members[KEY] = NO_KEY
        if kept.headers:
            members[HEADERS] = {name: value.reveal() for name, value in kept.headers.items()}
        return members

    def _row(self, entry: Any, index: int) -> ProviderRow:
        whole = self._whole(entry)
        found = read_providers({"providers": [whole]})
        fault = found.faults[0].partition(" is not valid: ")[2] if found.faults else _unusable(found.providers[0])
        provider_id = _text(entry, "id") or f"(number {index + 1})"
        kept = self.secrets.get(provider_id, NO_SECRETS)
        members = members_of(whole)
        temperature = members.get("temperature")
        return ProviderRow(
            id=provider_id,
            name=_text(members, "name") or provider_id,
            base_url=shown_url(_text(members, "baseURL") or ""),
            default_model=_text(members, "defaultModel") or "",
            enabled=members.get("enabled", True) is True,
            temperature=temperature if isinstance(temperature, int | float) else None,
            preset=_text(members, "preset"),
            created_at=_text(members, "createdAt") or "",
            has_key=bool(kept.key) or bool(_text(entry, KEY)),
            header_names=tuple(members_of(members.get(HEADERS))),
            is_default=provider_id == self.default_id,
            fault=fault,
        )

    def _secrets_after(self, provider_id: str, before: Any, raw: Mapping[str, Any]) -> ProviderSecrets:
        kept = self.secrets.get(provider_id, NO_SECRETS)
        moved = before is not None and _origin(_text(before, "baseURL")) != _origin(_text(raw, "baseURL"))
        missing = [name for name, had in ((KEY, kept.key), (HEADERS, kept.headers)) if had and name not in raw]
        if moved and missing:
            old = shown_url(_text(before, "baseURL") or "")
            message = f"must be given anew, or null: what is stored was given for {old}, and the address is another now"
            raise InvalidBlockDataError([Issue((name,), "invalid_value", message) for name in missing])
        given = {name: Secret(value) for name, value in members_of(raw.get(HEADERS)).items()}
        key = Secret(raw[KEY]) if isinstance(raw.get(KEY), str) else None
        return ProviderSecrets(
            key=key if KEY in raw else kept.key,
            headers=MappingProxyType(given) if HEADERS in raw else kept.headers,
        )

    def _entry(self, provider_id: str) -> Any:
        return next((one for one in self.entries if _text(one, "id") == provider_id), None)

    def _names_a_provider(self, provider_id: str | None) -> bool:
        return provider_id is not None and self._entry(provider_id) is not None

    def _known(self, provider_id: str) -> str:
        if self._entry(provider_id) is None:
            known = ", ".join(repr(row.id) for row in self.rows()) or "none"
            raise NotFoundError(f"there is no provider {provider_id[:80]!r}; there are: {known}")
        return provider_id


def shown_url(url: str) -> str:
    """The address without what may be secret in it: a user with a password, a query."""
    parts = _split(url)
    if parts is None or not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{'' if parts.port is None else f':{parts.port}'}{parts.path}"


def members_of(value: object) -> Mapping[str, Any]:
    """The members of an object of JSON; none of anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _check(raw: Mapping[str, Any]) -> None:
    """What the form of a provider does not say."""
    issues: list[Issue] = []
    for name in raw:
        if name not in FIELDS:
            issues.append(
                Issue((name[:60],), "invalid_value", f"there is no such field; there are {', '.join(FIELDS)}")
            )
    for name in ("name", "preset", "baseURL", "defaultModel"):
        if len(_text(raw, name) or "") > MOST_CHARACTERS:
            issues.append(Issue((name,), "too_big", f"must have at most {MOST_CHARACTERS} characters"))
    if "baseURL" not in raw:
        issues.append(Issue(("baseURL",), "invalid_type", "is missing"))
    key = raw.get(KEY)
    if key is not None and (not isinstance(key, str) or len(key) > MOST_SECRET_CHARACTERS or not _KEY.fullmatch(key)):
        issues.append(Issue((KEY,), "invalid_format", "must be a text without blanks, or null for none"))
    issues.extend(_header_issues(raw.get(HEADERS)))
    if issues:
        raise InvalidBlockDataError(issues)


def _header_issues(headers: object) -> Sequence[Issue]:
    if headers is None:
        return ()
    if not isinstance(headers, Mapping):
        return (Issue((HEADERS,), "invalid_type", "must be an object of texts, or null for none"),)
    members: Mapping[str, object] = members_of(cast("object", headers))
    issues = [
        Issue((HEADERS, name[:60]), "invalid_format", "must be a text of printable ASCII")
        for name, value in members.items()
        if not isinstance(value, str) or len(value) > MOST_SECRET_CHARACTERS or not _HEADER_VALUE.fullmatch(value)
    ]
    issues += [
        Issue((HEADERS, name[:60]), "invalid_value", "is no name of a header that can be added")
        for name in members
        if not _HEADER_NAME.fullmatch(name) or name.lower() in _OURS
    ]
    if len(members) > MOST_HEADERS:
        issues.append(Issue((HEADERS,), "too_big", f"must be at most {MOST_HEADERS}"))
    return issues


def _unusable(provider: Provider) -> str | None:
    """Why a provider of valid form cannot be asked, or None."""
    parts = _split(provider.base_url)
    if parts is None or not parts.hostname or parts.username is not None or parts.query or parts.fragment:
        return "baseURL: must be an address such as 'https://example.com/v1', without a user, a query or a fragment"
    if not provider.base_url.isascii() or any(character.isspace() for character in provider.base_url):
        return "baseURL: must be plain ASCII without blanks"
    if not _KEY.fullmatch(provider.api_key):
        return "apiKey: must be printable ASCII without blanks"
    issues = _header_issues(provider.custom_headers)
    return str(issues[0]) if issues else None


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _origin(url: str | None) -> tuple[str, str | None, int | None] | None:
    parts = _split(url or "")
    return None if parts is None else (parts.scheme, parts.hostname, parts.port)


def _is_local(url: str | None) -> bool:
    parts = _split(url or "")
    return parts is not None and parts.hostname in _LOCAL_HOSTS


def _text(entry: object, name: str) -> str | None:
    value = members_of(entry).get(name)
    return value if isinstance(value, str) and value else None
