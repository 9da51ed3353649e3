"""Models of Mesa's own examples as they are: `henad run SPEC --out DIR --models examples/mesa_models.py`."""

from mesa.examples import BoltzmannWealth, Schelling, SugarscapeG1mt

import henad_web as hw

WEALTH = hw.from_mesa(BoltzmannWealth, params={"n": (2, 10_000), "width": (1, 500), "height": (1, 500)})
SEGREGATION = hw.from_mesa(Schelling, params={"density": (0.0, 1.0), "homophily": (0.0, 1.0)})
SUGAR = hw.from_mesa(SugarscapeG1mt, params={"initial_population": (1, 2500)})

if __name__ == "__main__":
    spec = hw.parse_spec("""
model = "schelling"
[run]
steps = 100
replicates = 2
[[block]]
factors = [{ param = "homophily", values = [0.3, 0.5] }]
""").spec
    record = hw.run_spec(SEGREGATION, spec, output=hw.MemoryOutput())
    print((record.files or {})["summary.csv"].decode())
