"""`torsor view`: a model or a result in the browser, or as one HTML file."""

import os
import time
from typing import Annotated, Any

from ..errors import OptionError, TorsorError
from . import DONE, complain
from .command_options import COMPARE, HTML, NO_BROWSER, PORT, SET, SHOWN

STATE_FILE = "state"  # of a run that is kept in a folder, written at each checkpoint
PERIOD = 0.4  # seconds between looks at a file that may change
RUNNING_PERIOD = 3.0  # and at a run that goes on, whose whole result is shown again


def view(
    source: Annotated[str, SHOWN],
    set: Annotated[list[str] | None, SET] = None,
    compare: Annotated[list[str] | None, COMPARE] = None,
    html: Annotated[str | None, HTML] = None,
    port: Annotated[int, PORT] = 0,
    no_browser: Annotated[bool, NO_BROWSER] = False,
):
    """Show a result or a model in the browser; a model is shown again whenever its file changes."""
    from ..viewer.page_server import serve

    refuse_early(html, html is None)
    data, file = _data_of(source, set, compare)
    if html is not None:
        return write_html(data, html)
    server = serve(data, not no_browser, port)
    stop = "Ctrl-C ends it" if file is None else f"changes of {file} are shown at once; Ctrl-C ends it"
    print(stop, flush=True)
    try:
        _wait(server, file, lambda: _data_of(source, set, compare)[0])
    except KeyboardInterrupt:
        pass
    finally:
        server.close()
    return DONE


def write_html(data: dict[str, Any], path: str) -> int:
    """Write a page with these data."""
    from ..viewer.html_file import write_page

    write_page(data, path)
    print(f"  written         {path} ({os.path.getsize(path) / 1e6:.1f} MB, plays offline in a browser)")
    return DONE


def refuse_early(html: str | None, shown: bool) -> None:
    """Before a run: refuse a file that cannot be written, and a page that cannot be built."""
    from ..store.result_files import refuse_unwritable
    from ..viewer.viewer_page import viewer_page

    if html is not None:
        if not html.lower().endswith((".html", ".htm")):
            raise OptionError(f"--html {html!r}: the name of the page must end in .html")
        refuse_unwritable(html)
    if html is not None or shown:
        viewer_page()


def with_title(data: dict[str, Any], source: str) -> dict[str, Any]:
    """The data of a page, with a line that says what a case is."""
    from ..cases import names
    from ..registry import registered

    if source not in names():
        return data
    parts = [registered("case")[source].title, data["subtitle"]]
    return {**data, "subtitle": " · ".join(filter(None, parts))}


def show_result(result: Any, html: str | None, shown: bool, source: str = "") -> None:
    """What `torsor run --html FILE --view` does with a result."""
    from ..viewer.page_server import serve
    from ..viewer.viewable import data_of

    data = with_title(data_of(result, "view"), source)
    if html is not None:
        write_html(data, html)
    if shown:
        server = serve(data)
        print("Ctrl-C ends it", flush=True)
        try:
            _wait(server, None, None)
        except KeyboardInterrupt:
            server.close()


def _data_of(source, settings, compare):
    """The data of the page, and the file to look after; None for a case and for a result."""
    from ..store.result_files import load_result
    from ..viewer.viewable import data_of
    from .model_source import assignments, load

    others = [load_result(path) for path in compare or ()]
    if os.path.splitext(source)[1] in (".nc", ".h5"):
        if settings:
            raise OptionError(f"--set: {source!r} is a result; its parameters are those of its run")
        return data_of(load_result(source), "view", compare=others or None), None
    if os.path.isdir(source):
        return _running(source, settings, others), os.path.join(source, STATE_FILE)
    if others:
        raise OptionError("--compare: give a result to compare with, FILE.nc, and not a model")
    found = load(source, assignments(settings))
    found.print_notes()
    data = with_title(data_of(found.model, "view", parameters=found.parameters), source)
    return data, source if os.path.isfile(source) else None


def _running(folder, settings, others):
    """The data of the page of a run that is kept in a folder."""
    from ..store.checkpoint import Checkpoint
    from ..viewer.running_result import running_result
    from ..viewer.viewable import data_of
    from .model_source import assignments, resume_source

    place = Checkpoint(folder)
    place.read()
    model = None
    if place.source is not None and place.source.get("digest") is None:  # a case needs no more than its name
        model = resume_source(folder, place.source, None, assignments(settings)).model
    return data_of(running_result(folder, model), "view", compare=others or None)


def _wait(server, file, again):
    """Serve until Ctrl-C or the end of the server; what is in the file is shown whenever it changes."""
    shown = before = _state(file)
    running = file is not None and os.path.basename(file) == STATE_FILE
    while not server.ended:
        time.sleep(RUNNING_PERIOD if running else PERIOD)
        now = _state(file)
        half_written = now != before and not running  # a state is replaced in one step
        before = now
        if now is None or now == shown or half_written:
            continue
        shown = now
        try:
            server.show(again())
        except TorsorError as error:  # half written, or wrong: the page keeps what it shows, with the reason
            complain(error)
            data = server.data
            server.show({**data, "info": {**data.get("info", {}), "warning": str(error)}})


def _state(file):
    try:
        return None if file is None else (os.path.getmtime(file), os.path.getsize(file))
    except OSError:
        return None
