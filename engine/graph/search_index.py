"""The words of a graph, kept ready for searching: which nodes hold a word, and which words are like another.

Owns derived data only; follows the nodes of the map change by change. A word that nobody holds in that form is looked
for with typing errors, by the three-letter pieces that it shares with the words there are.
"""

from __future__ import annotations

import heapq
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from engine.graph.keys import is_entity
from engine.graph.records import GraphNode
from engine.graph.words import data_words, name_key
from engine.records import Record

LABEL_EXACT, LABEL_BEGINS, LABEL_HOLDS, LABEL_TYPO = 12, 9, 6, 5
"""What a word of the query is worth where a word of a label is it, begins with it, holds it, or is like it."""
BODY_EXACT, BODY_BEGINS, BODY_HOLDS, BODY_TYPO = 4, 3, 2, 1
"""The same for the words of contents, data and paths."""
BEST_WORD = LABEL_EXACT

ONE_TYPO_LENGTH = 4
"""Letters from which on a word is found with one error; in shorter ones everything would be like everything."""
TWO_TYPOS_LENGTH = 7
"""Letters from which on it is found with two."""
_GRAM = 3
"""Letters of a piece. A wrong letter spoils as many pieces, so with the lengths above one piece is always left."""

_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """The words of a text, in the form in which they are compared: case and width do not matter."""
    return _WORD.findall(text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold())


@dataclass(frozen=True, slots=True)
class Tier:
    """Nodes that meet a word of the query equally well, and how well. Holds no node that an earlier tier has."""

    worth: int
    keys: frozenset[str] | set[str]


@dataclass(slots=True)
class _Field:
    """The nodes by the words that they hold in one place."""

    holders: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def add(self, words: Iterable[str], key: str) -> None:
        for word in words:
            holders = self.holders.get(word)
            if holders is None:
                self.holders[word] = {key}
            else:
                holders.add(key)

    def discard(self, words: Iterable[str], key: str) -> None:
        for word in words:
            holders = self.holders[word]
            holders.discard(key)
            if not holders:
                del self.holders[word]

    def holding(self, words: Iterable[str]) -> set[str]:
        """The nodes that hold one of the words. May be the index's own set: never change it."""
        sets = [self.holders[word] for word in words if word in self.holders]
        return sets[0] if len(sets) == 1 else set[str]().union(*sets)


class SearchIndex:
    """The words of the map. Built when somebody searches for the first time."""

    collections: ClassVar[frozenset[str]] = frozenset({GraphNode.collection})

    def __init__(self) -> None:
        self._labels = _Field()
        self._bodies = _Field()
        self._names: dict[str, set[str]] = {}
        self._grams: dict[str, set[str]] = {}

    def labelled(self, text: str) -> set[str]:
        """The nodes whose label is that text, whatever its case, width and spacing."""
        return set(self._names.get(name_key(text), ()))

    def tiers(self, word: str) -> list[Tier]:
        """The nodes that meet a word of the query, best first."""
        labels, bodies = self._labels, self._bodies
        known_words = self._known_holding(word)
        begins = [known for known in known_words if known.startswith(word)]
        holds = [known for known in known_words if not known.startswith(word)]
        levels: list[tuple[int, Iterable[str], _Field]] = [
            (LABEL_EXACT, (word,), labels),
            (LABEL_BEGINS, begins, labels),
            (LABEL_HOLDS, holds, labels),
            (BODY_EXACT, (word,), bodies),
            (BODY_BEGINS, begins, bodies),
            (BODY_HOLDS, holds, bodies),
        ]
        if not begins and not holds:
            alike = list(self._like(word))
            levels = [(LABEL_TYPO, alike, labels), (BODY_TYPO, alike, bodies)]
        found: list[Tier] = []
        seen: set[str] = set()
        for worth, known, place in levels:
            keys = place.holding(known)
            if seen and keys:
                keys = keys - seen
            if keys:
                seen |= keys
                found.append(Tier(worth, keys))
        return found

    def apply(self, before: Record | None, after: Record | None) -> None:
        """See `engine.records.Index`."""
        old = before if isinstance(before, GraphNode) else None
        new = after if isinstance(after, GraphNode) else None
        if old is not None and new is not None and _searched(old) == _searched(new):
            return
        old_label, old_body = ((), ()) if old is None else _words_of_node(old)
        new_label, new_body = ((), ()) if new is None else _words_of_node(new)
        if old is not None:
            self._labels.discard(old_label, old.id)
            self._bodies.discard(old_body, old.id)
            names = self._names[name_key(old.label)]
            names.discard(old.id)
            if not names:
                del self._names[name_key(old.label)]
            self._forget({*old_label, *old_body})
        if new is not None:
            self._learn({*new_label, *new_body})
            self._labels.add(new_label, new.id)
            self._bodies.add(new_body, new.id)
            self._names.setdefault(name_key(new.label), set()).add(new.id)

    def _forget(self, words: set[str]) -> None:
        """Take away the pieces of those of the words that nobody holds any more."""
        for word in words:
            if not self._is_known(word):
                for gram in _grams_of(word):
                    sharing = self._grams[gram]
                    sharing.discard(word)
                    if not sharing:
                        del self._grams[gram]

    def _learn(self, words: set[str]) -> None:
        """Add the pieces of those of the words that nobody holds yet."""
        for word in words:
            if not self._is_known(word):
                for gram in _grams_of(word):
                    sharing = self._grams.get(gram)
                    if sharing is None:
                        self._grams[gram] = {word}
                    else:
                        sharing.add(word)

    def _is_known(self, word: str) -> bool:
        return word in self._labels.holders or word in self._bodies.holders

    def _known(self) -> Iterator[str]:
        yield from self._labels.holders
        for word in self._bodies.holders:
            if word not in self._labels.holders:
                yield word

    def _known_holding(self, word: str) -> list[str]:
        """The known words that hold the word; through the pieces of three letters, where it has that many."""
        if len(word) < _GRAM:
            return [known for known in self._known() if word in known]
        pieces = [self._grams.get(word[at : at + _GRAM], _NONE) for at in range(len(word) - _GRAM + 1)]
        return [known for known in min(pieces, key=len) if word in known]

    def _like(self, word: str) -> Iterator[str]:
        """The known words that differ from the word by few errors. Numbers are never alike."""
        errors = allowed_errors(word)
        if not errors:
            return
        for known in self._candidates(word, errors):
            if abs(len(known) - len(word)) <= errors and differs_at_most(word, known, errors):
                yield known

    def _candidates(self, word: str, errors: int) -> set[str]:
        """Every known word that can differ from the word by so many errors, among others.

        A letter that is wrong, missing or too many spoils so many pieces; of one more, one is left. Two letters in
        wrong order would spoil more, so they are tried the other way round.
        """
        if not errors:
            return {word} if self._is_known(word) else set()
        pieces = (self._grams.get(gram, _NONE) for gram in _grams_of(word))
        found = set[str]().union(*heapq.nsmallest(_GRAM * errors + 1, pieces, key=len))
        for at in range(len(word) - 1):
            found |= self._candidates(word[:at] + word[at + 1] + word[at] + word[at + 2 :], errors - 1)
        return found


_NONE: frozenset[str] = frozenset()


def allowed_errors(word: str) -> int:
    """How many typing errors a word of the query may have."""
    if any(letter.isdigit() for letter in word) or len(word) < ONE_TYPO_LENGTH:
        return 0
    return 1 if len(word) < TWO_TYPOS_LENGTH else 2


def differs_at_most(one: str, other: str, errors: int) -> bool:
    """Whether one word becomes the other by so many letters changed, added, left out, or swapped with the next."""
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        current = [row]
        for column, wanted in enumerate(other, start=1):
            cost = last[column - 1] + (letter != wanted)
            cost = min(cost, last[column] + 1, current[column - 1] + 1)
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == wanted:
                cost = min(cost, before_last[column - 2] + 1)
            current.append(cost)
        if min(current) > errors:
            return False
        before_last, last = last, current
    return last[-1] <= errors


def _grams_of(word: str) -> set[str]:
    """The pieces of three letters, the beginning and the end marked by a space, which no word holds."""
    marked = f" {word} "
    return {marked[at : at + _GRAM] for at in range(len(marked) - _GRAM + 1)}


def _searched(node: GraphNode) -> tuple[str, str, str]:
    return node.label, node.content, node.data


def _words_of_node(node: GraphNode) -> tuple[frozenset[str], frozenset[str]]:
    label = frozenset(words_of(node.label))
    body: set[str] = set()
    if node.content:
        body.update(words_of(node.content))
    for text in data_words(node.data):
        body.update(words_of(text))
    if not is_entity(node.id):
        body.update(words_of(node.id.partition(":")[2]))
    return label, frozenset(body)
