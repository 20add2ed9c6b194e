"""Models that travel: between processes by pickle, within one by copy.

Symbols are what they are by identity. All expressions of a model therefore travel together, as one function of all its
symbols, and are made again where they arrive, with new symbols of the same names; time is the same symbol everywhere. An
element that is sent together with its model stays an element of it.
"""

import io
import pickle

import casadi as ca

from ..elements import quantity
from ..elements.assignments import part
from ..elements.element import Owned
from ..errors import ModelError
from ..lookup.interval_search import stored_table
from ..lookup.lookup_calls import numbers_in
from .expressions import function, text


class _Writer(pickle.Pickler):
    """Writes what a model consists of: expressions by their places in a list, the model by reference."""

    def __init__(self, file, model):
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.model, self.expressions, self.places = model, [], {}

    def persistent_id(self, obj):
        if obj is self.model:
            return "model"
        if not isinstance(obj, ca.SX):
            return None
        if id(obj) not in self.places:
            self.places[id(obj)] = len(self.expressions)
            self.expressions.append(obj)
        return self.places[id(obj)]

    def reducer_override(self, obj):
        """Elements by what they are made of, and not as elements of their model."""
        return object.__reduce_ex__(obj, 4) if isinstance(obj, Owned) else NotImplemented


class _Reader(pickle.Unpickler):
    def __init__(self, file, model, expressions):
        super().__init__(file)
        self.model, self.expressions = model, expressions

    def persistent_load(self, place):
        return self.model if place == "model" else self.expressions[place]


def pack_model(model, **instead):
    """A model as two byte strings and plain data: what it consists of, its expressions, its symbols, and the tables in them;
    instead: other parts that it has where it arrives."""
    file = io.BytesIO()
    writer = _Writer(file, model)
    try:
        writer.dump(state(model) | instead)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        _refuse_functions(model, error)
        raise
    symbols = ca.symvar(ca.vertcat(*[ca.vec(x) for x in writer.expressions], quantity.time))
    f = ca.Function("model", [ca.vertcat(*symbols)], writer.expressions)
    here = quantity.time.element_hash()
    kinds = [(None if s.element_hash() == here else s.name(), model.kind_of(s)) for s in symbols]
    return file.getvalue(), text(f), kinds, [stored_table(number).content for number in numbers_in(f)]


def _refuse_functions(model, error):
    """An error that names the first controller whose function does not travel."""
    for rule in model.rules:
        given = getattr(rule, "function", None)
        try:
            pickle.dumps(given)
        except Exception:
            raise ModelError(
                f"{rule.owner}: its function {quantity.show(given)} cannot go to another process: define it at the top of a "
                "module, or let it run compiled (compiled=True)"
            ) from error


def state(model):
    """What a model consists of, without what follows from it."""
    return {
        name: value for name, value in vars(model).items() if name not in ("derived", "_symbols", "_compiled", "_made")
    }


def unpack_model(cls, consists, serialized, kinds, tables=()):
    """The model that was packed; it may be changed, whether the original was compiled or not."""
    for table in tables:
        table.number  # noqa: B018  from here on this process knows it
    model = cls.__new__(cls)
    symbols = [quantity.time if name is None else ca.SX.sym(name) for name, _ in kinds]
    expressions = function(serialized).call([ca.vertcat(*symbols)])
    model.derived, model._compiled = {}, False
    model._symbols = {s.element_hash(): kind for s, (_, kind) in zip(symbols, kinds) if kind is not None}
    model.__dict__.update(_Reader(io.BytesIO(consists), model, expressions).load())
    vars(model).setdefault("eliminations", part("eliminations", {}))  # files of earlier versions have none
    return model
