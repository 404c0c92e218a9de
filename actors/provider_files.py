"""The user's providers on disk: the configuration in one file, the keys in another that its owner alone can read.

Owns the form of both files, and moves keys out of a configuration in which somebody wrote them. The user may edit both
while the engine runs: what he wrote is read anew before anything is written, and never written over. Blocks.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, cast

from actors.provider_book import HEADERS, KEY, ProviderBook, ProviderSecrets, members_of
from actors.secret import Secret
from blocks.store.files import DataFiles, ReadFile
from blocks.store.limits import MAX_FILE_BYTES
from engine.errors import ConflictError

CONFIG_FILE = "config.json"
"""Below the data folder: `providers`, `defaultProviderId`, and whatever else somebody keeps there."""

KEYS_FILE = "provider-keys.json"
"""Below the data folder, mode 0600: `{providers: {id: {apiKey, customHeaders}}}`."""


_FILES = (CONFIG_FILE, KEYS_FILE)


@dataclass(frozen=True, slots=True)
class LoadedProviders:
    """What the files hold, and what was wrong with them."""

    book: ProviderBook
    reports: tuple[str, ...] = ()
    """Of files that were set aside, and of what will not be read anew."""
    troubles: tuple[str, ...] = ()
    """Of files that are broken and stand where they stood; what they held before is used."""


class ProviderStore(Protocol):
    """Where the providers are kept. Every method blocks, and raises `EngineError` for what the disk refuses."""

    def load(self) -> LoadedProviders:
        """What is kept. A broken file is set aside and reported."""
        ...

    def reload(self, present: ProviderBook, *, changing: bool) -> LoadedProviders | None:
        """What is kept, where it is another than what was read or written last; else None.

        For a broken file `present` stands. When something is to be changed it is set aside, and `present` is written
        in its place; else it stays, since somebody may be at it.
        """
        ...

    def save(self, before: ProviderBook, after: ProviderBook) -> None:
        """Keep `after` where `before` was kept; durable when it returns.

        Raises `ConflictError` when somebody else has written meanwhile; then nothing of his is lost.
        """
        ...


class ProviderFiles:
    """The two files below the data folder."""

    def __init__(self, root: Path, clock: Callable[[], datetime]) -> None:
        self._root = root
        self._clock = clock
        self._files: DataFiles | None = None
        self._seen: dict[str, str | None] = {}
        """What was read or written last: of each file a digest, None for no file."""

    def load(self) -> LoadedProviders:
        """See `ProviderStore`. Keys that stand in the configuration are moved into their own file."""
        reports: list[str] = []
        found = {name: self._opened.read((name,)) for name in _FILES}
        config, keys = (self._understood(name, found[name], reports) or {} for name in _FILES)
        return LoadedProviders(self._book(config, keys, reports), tuple(reports))

    def reload(self, present: ProviderBook, *, changing: bool) -> LoadedProviders | None:
        """See `ProviderStore`."""
        found = {name: self._opened.read((name,)) for name in _FILES}
        if all(_digest(found[name]) == self._seen.get(name) for name in _FILES):
            return None
        reports: list[str] = []
        troubles: list[str] = []
        read: dict[str, dict[str, Any] | None] = {}
        for name in _FILES:
            said = reports if changing else None
            read[name] = self._understood(name, found[name], said, troubles)
        config, keys = (read[name] for name in _FILES)
        book = self._book(
            _config_json(present) if config is None else config,
            _keys_json(present) if keys is None else keys,
            reports,
            apart=not troubles,
        )
        if changing and config is None:
            self._write_config(book)
        if changing and keys is None:
            self._write_keys(book)
        return LoadedProviders(book, tuple(reports), tuple(troubles))

    def _book(
        self, config: dict[str, Any], keys: Mapping[str, Any], reports: list[str], *, apart: bool = True
    ) -> ProviderBook:
        """The book in what the files hold. Keys are moved to where they belong if `apart`."""
        secrets = _secrets(keys.get("providers"))
        listed = config.pop("providers", [])
        if not isinstance(listed, list | tuple):
            # It stays where it is, and is named: nothing of it is lost.
            reports.append(f"{CONFIG_FILE}: providers must be a list")
            config["providers"], listed = listed, []
        entries = tuple(cast("list[Any]", listed))
        default = config.pop("defaultProviderId", None)
        stored = ProviderBook(entries, default if isinstance(default, str) and default else None, secrets, config)
        moved = _with_keys_apart(stored)
        if apart and (moved is not stored or self._others_can_read()):
            self._write_keys(moved)
            self._write_config(moved)
        return moved

    def save(self, before: ProviderBook, after: ProviderBook) -> None:
        """See `ProviderStore`. Keys come first and go last, so that no provider is ever without its own."""
        leaving = len(after.secrets) < len(before.secrets)
        if leaving:
            self._write_config(after)
        if after.secrets != before.secrets:
            self._write_keys(after)
        if not leaving:
            self._write_config(after)

    @property
    def _opened(self) -> DataFiles:
        if self._files is None:
            self._files = DataFiles(self._root)
        return self._files

    def _understood(
        self, name: str, file: ReadFile | None, reports: list[str] | None, troubles: list[str] | None = None
    ) -> dict[str, Any] | None:
        """The object in a file; an empty one where it is missing, None where it is broken.

        A broken one is set aside and told to `reports`; without any it stays, and is told to `troubles`.
        """
        if file is None:
            self._seen[name] = None
            return {}
        reason = "it is no JSON object"
        with suppress(ValueError, RecursionError):
            if len(file.data) > MAX_FILE_BYTES:
                reason = f"it has more than {MAX_FILE_BYTES:,} bytes"
            else:
                value: object = json.loads(file.data.decode("utf-8-sig"))
                if isinstance(value, dict):
                    self._seen[name] = _digest(file)
                    return cast("dict[str, Any]", value)
        if reports is not None:
            kept_as = self._opened.set_aside((name,), self._clock())
            self._seen[name] = None
            reports.append(f"{name!r} was broken and is kept as {kept_as!r}: {reason}")
        elif troubles is not None:
            troubles.append(
                f"{name!r} is broken as it stands, and what it held before is used: {reason}. Correct it; the next "
                "change of a provider sets it aside"
            )
        return None

    def _write_keys(self, book: ProviderBook) -> None:
        self._write(KEYS_FILE, _keys_json(book))

    def _write_config(self, book: ProviderBook) -> None:
        self._write(CONFIG_FILE, _config_json(book))

    def _write(self, name: str, value: Mapping[str, Any]) -> None:
        if _digest(self._opened.read((name,))) != self._seen.get(name):
            raise ConflictError(
                f"{name!r} in the data folder was changed by somebody else at this moment, and was left as it is; try "
                "again"
            )
        data = _encoded(value)
        self._opened.write((name,), data)
        self._seen[name] = hashlib.sha256(data).hexdigest()

    def _others_can_read(self) -> bool:
        """Whether somebody has opened the file of the keys to others; writing it anew closes it."""
        with suppress(OSError):
            mode = (self._root / KEYS_FILE).lstat().st_mode
            return stat.S_IMODE(mode) & 0o077 != 0
        return False


def _with_keys_apart(book: ProviderBook) -> ProviderBook:
    """The book without secrets among its entries; the same one where there are none. A kept secret wins."""
    secrets = dict(book.secrets)
    entries: list[Any] = []
    for entry in book.entries:
        members = dict(members_of(entry))
        name = members.get("id")
        found = _secret_of({KEY: members.get(KEY), HEADERS: members.get(HEADERS)})
        if isinstance(name, str) and name and (KEY in members or HEADERS in members):
            secrets.setdefault(name, found)
            # Only what was understood is moved; what was not stays, so that it is named and not lost.
            for field, understood in ((KEY, found.key), (HEADERS, found.headers or members.get(HEADERS) in (None, {}))):
                if understood or members.get(field) is None:
                    members.pop(field, None)
            entries.append(members)
        else:
            entries.append(entry)
    if tuple(entries) == book.entries:
        return book
    return ProviderBook(tuple(entries), book.default_id, MappingProxyType(secrets), book.others)


def _digest(file: ReadFile | None) -> str | None:
    return None if file is None else hashlib.sha256(file.data).hexdigest()


def _config_json(book: ProviderBook) -> dict[str, Any]:
    return {**book.others, "providers": list(book.entries), "defaultProviderId": book.default_id}


def _keys_json(book: ProviderBook) -> dict[str, Any]:
    kept = {name: _secrets_json(secrets) for name, secrets in book.secrets.items()}
    return {"providers": {name: one for name, one in kept.items() if one}}


def _secrets(raw: object) -> Mapping[str, ProviderSecrets]:
    return MappingProxyType({name: _secret_of(one) for name, one in members_of(raw).items()})


def _secret_of(raw: object) -> ProviderSecrets:
    members = members_of(raw)
    key, headers = members.get(KEY), members_of(members.get(HEADERS))
    whole = all(isinstance(value, str) for value in headers.values())
    return ProviderSecrets(
        Secret(key) if isinstance(key, str) and key else None,
        MappingProxyType({name: Secret(value) for name, value in headers.items()} if whole else {}),
    )


def _secrets_json(secrets: ProviderSecrets) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if secrets.key is not None:
        said[KEY] = secrets.key.reveal()
    if secrets.headers:
        said[HEADERS] = {name: value.reveal() for name, value in secrets.headers.items()}
    return said


def _encoded(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"
