"""The commands for components in files."""

from typing import Annotated

from ..elements.element import fill_in
from ..errors import OptionError
from .command_options import COMPONENT, KEPT, SAVED, SET, SOURCE
from .model_source import assignments, load


def save(
    source: Annotated[str, SOURCE],
    path: Annotated[str, SAVED],
    set: Annotated[list[str] | None, SET] = None,
    formulation: Annotated[list[str] | None, KEPT] = None,
):
    """Save a component, a case or a model file, for those who do not have its source."""
    from ..store.component import FORMULATIONS, SUFFIX, interface, save_component

    if not path.lower().endswith(SUFFIX):
        raise OptionError(f"{path!r}: the file of a component ends in {SUFFIX}")
    found = load(source, assignments(set))
    model = found.model
    for name, value in found.parameters.items():
        fill_in(model.parameters[name], value=model.parameters[name].check_value(value))
    save_component(model, path, formulation or FORMULATIONS)
    print(f"{path}: component {model.name!r}, {len(model.bodies)} bodies")
    for what, several in interface(path).items():
        print(f"  {what:11} {', '.join(f'{name} ({kind})' for name, kind in several.items()) or 'none'}")


def trust(path: Annotated[str, COMPONENT]):
    """Take the compiled kernels of a component's file, too: machine code, from people whose programs you would run."""
    from ..store.component import kernels_fit_machine, load_component

    model = load_component(path, trusted=True)
    taken = (
        "its kernels are kept"
        if kernels_fit_machine(path)
        else "its kernels are for other machines, or for another version of torsor"
    )
    print(f"{path}: component {model.name!r}: {taken}")
