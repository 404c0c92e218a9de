"""The command that searches the map. Owns how nodes are ranked: by how well each word of the query is met, and where.

A word counts most where a label has it as a word; then as the beginning, as a part, and with a typing error; then the
same for contents and data. Nodes that are equally good come in the order of the map.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import InvalidArgumentError
from engine.graph.document import existing_node
from engine.graph.index import GraphIndex
from engine.graph.records import GraphNode
from engine.graph.search_index import BEST_WORD, SearchIndex, Tier, words_of
from engine.records import Transaction
from engine.world import Command

MAX_QUERY_WORDS = 12
"""Words of a query; a longer one is a text, not a question."""
_WHOLE_LABEL = BEST_WORD
"""What it adds that the whole label is the query."""
_KEY = 1_000
"""The worth of the node whose id is the query: before all others."""

_Ranks = dict[int, set[str]]


@dataclass(frozen=True, slots=True)
class Found:
    """A node, and how well it meets the query: 1 for one whose label or id is the query, above 0 for all."""

    node: GraphNode
    score: float


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Some of the nodes found, best first, of `total`. Where `all_words` is False, no node meets every word."""

    found: tuple[Found, ...]
    total: int
    all_words: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchNodes(Command[SearchPage]):
    """Find nodes by words of their labels, contents, data or paths, also misspelled, or by their id. Changes nothing.

    Nodes that meet every word are found; when there is none, those that meet some. Raises `InvalidArgumentError` for a
    query without a word.
    """

    label = "search nodes"
    query: str
    kind: str | None = None
    offset: int = 0
    limit: int = 20

    def run(self, world: Transaction) -> SearchPage:
        """Search."""
        graph, search = world.index(GraphIndex), world.index(SearchIndex)
        words = list(dict.fromkeys(words_of(self.query)))
        by_key = self.query.strip()
        if not words:
            raise InvalidArgumentError(f"query {self.query!r:.80} holds no letter and no digit to look for")
        if len(words) > MAX_QUERY_WORDS:
            raise InvalidArgumentError(f"query must have at most {MAX_QUERY_WORDS} words; got {len(words)}")
        tiers = [search.tiers(word) for word in words]
        ranks = _ranks(tiers, every=True)
        all_words = bool(ranks) or graph.shows(by_key)
        if not all_words:
            ranks = _ranks(tiers, every=False)
        _lift(ranks, search.labelled(self.query), _WHOLE_LABEL)
        if graph.shows(by_key):
            for keys in ranks.values():
                keys.discard(by_key)
            ranks[_KEY] = {by_key}
        if self.kind is not None:
            of_kind = frozenset(graph.of_kind(self.kind))
            ranks = {worth: keys & of_kind for worth, keys in ranks.items()}
        return self._page(world, graph, ranks, len(words), all_words)

    def _page(
        self, world: Transaction, graph: GraphIndex, ranks: _Ranks, word_count: int, all_words: bool
    ) -> SearchPage:
        best = BEST_WORD * word_count + _WHOLE_LABEL
        skip, room = self.offset, self.limit
        found: list[Found] = []
        for worth in sorted(ranks, reverse=True):
            keys = ranks[worth]
            if room and skip < len(keys):
                first = graph.first_of(keys, skip, room)
                score = min(1.0, worth / best)
                found += [Found(existing_node(world, key), score) for key in first]
                room -= len(first)
            skip = max(0, skip - len(keys))
        return SearchPage(tuple(found), sum(len(keys) for keys in ranks.values()), all_words)


def _ranks(tiers: list[list[Tier]], *, every: bool) -> _Ranks:
    """The nodes by what they are worth: those that meet every word, or all that meet one.

    Works on whole sets of nodes, so that a hundred thousand of them cost no more than some set operations.
    """
    if len(tiers) == 1:
        return {tier.worth: set(tier.keys) for tier in tiers[0]}
    met = [set[str]().union(*(tier.keys for tier in of_word)) for of_word in tiers]
    ranks: _Ranks = {0: set[str].intersection(*met) if every else set[str]().union(*met)}
    for of_word in tiers:
        better: _Ranks = {}
        for worth, keys in ranks.items():
            left = keys
            for tier in of_word:
                if not left:
                    break
                hit = left & tier.keys
                if hit:
                    better.setdefault(worth + tier.worth, set()).update(hit)
                    left = left - hit
            if left:
                better.setdefault(worth, set()).update(left)
        ranks = better
    return {worth: keys for worth, keys in ranks.items() if keys}


def _lift(ranks: _Ranks, keys: set[str], by: int) -> None:
    """Let some of the nodes be worth more."""
    for worth in sorted(ranks, reverse=True):
        lifted = ranks[worth] & keys
        if lifted:
            ranks[worth] = ranks[worth] - lifted
            ranks.setdefault(worth + by, set()).update(lifted)
    for worth in [worth for worth, left in ranks.items() if not left]:
        del ranks[worth]
