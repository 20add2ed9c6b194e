"""Values that ranks compute for each other: expressions of events and own states, rows of loops.

Each rank computes the values that depend on its own part of the system, and an exchange gives all values to all ranks. Afterwards
all ranks have the same bits, so that their time loops take the same decisions. An expression that depends on the parts of several
ranks is computed by rank 0, which receives its arguments in the same exchange.

Without ranks expressions are computed where they are needed.
"""

import numpy as np

from .expression_passes import Places, add_expressions
from .group_schedule import call_in_blocks
from .moving_grounds import at_paths


class SharedValues:
    """Numbers in the memory of a schedule, each computed by one rank and sent to all others.

    owners   rank that computes each number
    at       offset of each number in the memory
    own      indices of the numbers that this rank computes
    """

    def __init__(self, schedule, cut, owners):
        self.schedule = schedule
        self.owners = np.asarray(owners, int)
        self.counts = np.bincount(self.owners, minlength=cut.ranks).tolist()
        self.first = schedule.reserve(len(self.owners))
        self.at = self.first + np.argsort(np.argsort(self.owners, kind="stable"))  # in the order of the ranks
        self.own = np.flatnonzero(self.owners == cut.rank)

    def copy_own(self, vector, offsets):
        """Append copies of the numbers of this rank from a vector; offsets: of all numbers."""
        own = np.asarray(offsets, int)[self.own]
        if len(own):
            call_in_blocks(self.schedule, lambda x: x, [vector, "memory"], [own, self.at[self.own]])

    def send(self, vector=None, targets=()):
        """Append the exchange, and copies of all numbers to a vector."""
        self.schedule.exchange("memory", self.first, self.counts)
        if vector is not None and len(self.at):
            call_in_blocks(self.schedule, lambda x: x, ["memory", vector], [self.at, np.asarray(targets, int)])


class ReceivedPlaces(Places):
    """Places of symbols whose values other ranks have sent; at: offset in the memory by the key of a symbol."""

    def __init__(self, passes, at):
        super().__init__(passes)
        self.at = at

    def place_of(self, symbol, element, name):
        if name == "symbol":
            return super().place_of(symbol, element, name)
        return "memory", self.at[self.key_of(symbol, element, name)]


def add_shared_expressions(schedule, expressions, places, vector, targets):
    """Append passes that compute scalar expressions and give their values to all ranks; arguments as those of `add_expressions`."""
    passes, targets = places.passes, np.asarray(targets, int)
    expressions = [at_paths(passes.system.model, expression) for expression in expressions]
    cut = passes.system.cut
    if cut is None or not expressions:
        add_expressions(schedule, expressions, places, vector, targets)
        return
    symbols = [places.symbols(expression) for expression in expressions]
    ranks = [{places.rank_of(*symbol) for symbol in of_one} - {None} for of_one in symbols]
    single = [k for k, of_one in enumerate(ranks) if len(of_one) < 2]
    several = [k for k, of_one in enumerate(ranks) if len(of_one) > 1]
    arguments = {places.key_of(*symbol): symbol for k in several for symbol in symbols[k] if symbol[2] != "symbol"}
    sizes = [symbol.numel() for symbol, _, _ in arguments.values()]
    owners = [next(iter(ranks[k]), 0) for k in single]
    owners += np.repeat([places.rank_of(*x) or 0 for x in arguments.values()], sizes).astype(int).tolist()
    values = SharedValues(schedule, cut, owners)
    own = [j for j in values.own.tolist() if j < len(single)]
    add_expressions(schedule, [expressions[single[j]] for j in own], places, "memory", values.at[own])
    first = len(single)
    at = {}
    for (key, symbol), size in zip(arguments.items(), sizes):
        place = values.at[first : first + size]
        if values.owners[first] == cut.rank:
            source, offset = places.place_of(*symbol)
            call_in_blocks(schedule, lambda x: x, [source, "memory"], [offset + np.arange(size), place])
        at[key] = int(place[0])
        first += size
    values.send()
    if single:
        copies = values.at[: len(single)], targets[single]
        call_in_blocks(schedule, lambda x: x, ["memory", vector], list(copies))
    if several:
        rest = SharedValues(schedule, cut, [0] * len(several))
        if cut.rank == 0:
            own_places = ReceivedPlaces(passes, at)
            add_expressions(schedule, [expressions[k] for k in several], own_places, "memory", rest.at)
        rest.send(vector, targets[several])


def share_rows(schedule, system, vector):
    """Append an exchange of the rows of all loops in a vector, to which each rank has written those of its own."""
    rows = np.arange(system.loop_rows)
    if len(rows):
        values = SharedValues(schedule, system.cut, system.owners_of_rows)
        values.copy_own(vector, rows)
        values.send(vector, rows)
