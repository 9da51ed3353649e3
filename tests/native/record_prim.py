"""Records the boxes that the EMA Workbench finds of known functions, in `prim_boxes.json` beside this file.

Of the usual objective all boxes on the way, of the others the last one.

The workbench brings some fifty packages for a comparison of one algorithm, hence a record: ``poe record-prim`` installs
it beside the environment and writes the file anew; `test_prim_boxes.py` compares our boxes with it.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from tests.shared.prim_functions import KNOWN, Known

FILE = Path(__file__).with_name("prim_boxes.json")
OBJECTIVES = ("lenient1", "lenient2", "original")


def main() -> None:
    """Write the file."""
    recorded = [
        {"function": name, "objective": objective, **box}
        for name, known in KNOWN.items()
        for objective in OBJECTIVES
        for box in _boxes(known, objective)[slice(None) if objective == OBJECTIVES[0] else slice(-1, None)]
    ]
    lines = ",\n".join(json.dumps(box) for box in recorded)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _boxes(known: Known, objective: str) -> list[dict[str, Any]]:
    pandas: Any = importlib.import_module("pandas")
    prim: Any = importlib.import_module("ema_workbench.analysis.prim")
    modes: Any = importlib.import_module("ema_workbench.analysis.scenario_discovery_util").RuleInductionType
    y = known.y()
    is_binary = set(y.tolist()) == {0.0, 1.0}
    frame = pandas.DataFrame(dict(known.columns()))
    frame["mode"] = frame["mode"].astype(object)
    found = prim.Prim(
        frame,
        y,
        threshold=known.threshold,
        obj_function=prim.PRIMObjectiveFunctions(objective),
        mode=modes.BINARY if is_binary else modes.REGRESSION,
    ).find_box()
    names = [name for name in frame.columns if name != "mode"]
    return [
        {
            "limits": {name: [float(limits[name][0]), float(limits[name][1])] for name in names},
            "mode": sorted(limits["mode"][0]),
            "qp": dict(quasi_p),
            **{column: float(row[column]) for column in ("coverage", "density", "mean", "mass", "res_dim")},
        }
        for limits, quasi_p, (_, row) in zip(found.box_lims, found.qp, found.peeling_trajectory.iterrows(), strict=True)
    ]


if __name__ == "__main__":
    main()
