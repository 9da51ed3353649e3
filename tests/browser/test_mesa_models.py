"""Models of Mesa in a browser: installed there from wheels, they leave the bytes that they leave on native Python.

`mesa_wheels.json` pins what micropip is given: Mesa, and what it needs beside numpy.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext

from henad_native.site import serve_folder
from henad_native.site.fetch import fetch_files
from henad_native.site.pins import pinned_files
from tests.browser.page_watch import PageWatch

SWEEPS = """
import json, warnings
from mesa.examples import BoltzmannWealth, Schelling, SugarscapeG1mt
import henad_web as hw
from henad_web.targets import PumpedTarget


def swept(model, **values):
    entry = hw.from_mesa(model, params=values)
    factor = hw.FactorSpec(param=next(iter(values)), levels=hw.ValueLevels(values=(8, 12)))
    spec = hw.SweepSpec(
        model=entry.id,
        run=hw.RunSettings(steps=10, replicates=2),
        measure=hw.MeasureSettings(series_every=1),
        blocks=(hw.BlockSpec(factors=(factor,)),),
    )
    with hw.SweepRun.start(entry, spec, target=PumpedTarget()) as run:
        while not isinstance(event := run.try_recv(), hw.Finished):
            if event is None:
                run.update(0.016)
    files = hw.masked(event.record.files)
    return {name: files[name].decode() for name in ("runs.csv", "series.csv", "summary.csv")}


def sweeps():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the mean of no prices
        found = [swept(BoltzmannWealth, n=10), swept(Schelling, width=8), swept(SugarscapeG1mt, initial_population=9)]
    return json.dumps(found)
"""

IN_PAGE = """async ([interpreter, wheels, sweeps]) => {
  const { loadPyodide } = await import(interpreter);
  const pyodide = await loadPyodide({ packages: ["micropip", "henad-web"] });
  pyodide.globals.set("wheels", pyodide.toPy(wheels));
  await pyodide.runPythonAsync("import micropip\\nawait micropip.install(wheels, deps=False)");
  await pyodide.runPythonAsync(sweeps);
  return await pyodide.runPythonAsync("sweeps()");
}"""


def test_a_sweep_of_each_leaves_the_bytes_of_native_python(context: BrowserContext, site: Path, tmp_path: Path) -> None:
    wheels = fetch_files(pinned_files(Path(__file__).with_name("mesa_wheels.json")))
    folder = tmp_path / "site"
    shutil.copytree(site, folder)
    (folder / "mesa").mkdir()
    for name, file in wheels.items():
        shutil.copy(file, folder / name)
    (folder / "mesa.html").write_text('<!doctype html><title>Mesa</title><link rel="icon" href="data:,">')
    interpreter = next(folder.glob("vendor/pyodide-*/pyodide.mjs")).relative_to(folder).as_posix()
    native: dict[str, Any] = {}
    exec(SWEEPS, native)
    with serve_folder(folder) as served:
        page, watch = context.new_page(), PageWatch(served.address)
        watch.follow(page)
        page.goto(f"{served.address}mesa.html")
        addresses = [f"{served.address}{name}" for name in wheels]
        came = page.evaluate(IN_PAGE, [f"{served.address}{interpreter}", addresses, SWEEPS])
    assert watch.complaints == []
    ours = json.loads(native["sweeps"]())
    assert len(ours) == 3
    assert all(len(files["series.csv"].splitlines()) > 20 for files in ours)
    assert json.loads(came) == ours
