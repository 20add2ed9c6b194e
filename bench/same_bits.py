"""Compares the results of two versions of torsor bit for bit: every case, formulation and method, and other ways of running.

    python bench/same_bits.py --write before.json        # in the old version
    python bench/same_bits.py --against before.json      # in the new version
    python bench/same_bits.py --smoke

Each run is short. Of a run that is refused the type of the error is compared. `TORSOR_LEVEL=0` compiles faster.
"""

import argparse
import hashlib
import json
import time
import warnings

import numpy as np

import torsor as ts

FORMULATIONS = ("absolute", "relative", "woronetz", "hamiltonian", "hierarchical")
METHODS_ON = ("three-link", "car", "heavy-top", "pendulum")  # all methods on these cases, the default on the others
VARIABLES = ("position", "rotation", "velocity", "reaction_force", "energy", "energy_by_events", "event_time")


def digest(data):
    """A digest of the bits of the main variables of a result."""
    content = hashlib.sha256()
    for name in VARIABLES:
        if name in data:
            content.update(np.ascontiguousarray(getattr(data[name], "values", data[name]), float).tobytes())
    return content.hexdigest()[:16]


def attempt(run):
    """The digest of a result, or the kind of error that a run ends with."""
    try:
        return digest(run())
    except ts.TorsorError as error:
        return f"{type(error).__name__}"


def runs(cases):
    """Names of all runs, each with a function that carries it out."""
    for case in cases:
        until = min(ts.cases.until(case), 0.3)
        for formulation in FORMULATIONS:
            methods = ts.registered("integrator") if case in METHODS_ON else ("rkmk54",)
            for method in methods:
                step = {} if method == "rkmk54" else {"step": until / 50}

                def run(case=case, formulation=formulation, method=method, until=until, step=step):
                    model = ts.cases.load(case)
                    return ts.simulate(model, until, outputs=5, formulation=formulation, method=method, **step)

                yield f"{case} {formulation} {method}", run
        for projection in ts.registered("projection"):

            def project(case=case, projection=projection, until=until):
                return ts.simulate(ts.cases.load(case), until, outputs=5, formulation="absolute", projection=projection)

            yield f"{case} absolute {projection}", project

        def advance(case=case, until=until):
            sim = ts.Simulation(ts.cases.load(case), step=until / 50, method="rkmk4")
            for _ in range(5):
                sim.advance(until / 5)
            return {"position": np.hstack([sim.time, *sim.coordinates.values(), *sim.rates.values()])}

        yield f"{case} step by step", advance


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write")
    parser.add_argument("--against")
    parser.add_argument("--cases", default="")
    parser.add_argument("--smoke", action="store_true")
    given = parser.parse_args()
    cases = given.cases.split(",") if given.cases else ["pendulum"] if given.smoke else ts.cases.names()
    warnings.simplefilter("ignore")
    found = {}
    began = time.perf_counter()
    for name, run in runs(cases):
        found[name] = attempt(run)
        if given.smoke and len(found) == 3:
            break
    if given.write:
        with open(given.write, "w") as file:
            json.dump(found, file, indent=1)
    refused = sum("Error" in value for value in found.values())
    print(f"{len(found)} runs, {refused} of them refused, in {time.perf_counter() - began:.0f} s")
    if given.against:
        with open(given.against) as file:
            before = json.load(file)
        common = [name for name in found if name in before]
        different = [name for name in common if found[name] != before[name]]
        print(f"{len(common) - len(different)} of {len(common)} have the same bits")
        print(*(f"different: {name}: {before[name]} -> {found[name]}" for name in different), sep="\n")


if __name__ == "__main__":
    main()
