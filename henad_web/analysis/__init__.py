"""From rows to answers: curves with intervals, bands over time, indices, comparisons; one for all who show them."""

from henad_web.analysis.bands import Bands, bands
from henad_web.analysis.compare import Comparison, compare
from henad_web.analysis.heatmap import Heatmap, heatmap
from henad_web.analysis.main_effects import MainEffects
from henad_web.analysis.morris import MorrisEffects
from henad_web.analysis.pieces import Analysis
from henad_web.analysis.prim import PrimBox, PrimBoxes, prim
from henad_web.analysis.regression import RegressionMeasures
from henad_web.analysis.response import Response, response
from henad_web.analysis.sensitivity import Measures, sensitivity
from henad_web.analysis.sobol import SobolIndices
from henad_web.analysis.summary import Summary, summary
from henad_web.analysis.tables import AnalysisTable, Axis, LeftOut

__all__ = [
    "Analysis",
    "AnalysisTable",
    "Axis",
    "Bands",
    "Comparison",
    "Heatmap",
    "LeftOut",
    "MainEffects",
    "Measures",
    "MorrisEffects",
    "PrimBox",
    "PrimBoxes",
    "RegressionMeasures",
    "Response",
    "SobolIndices",
    "Summary",
    "bands",
    "compare",
    "heatmap",
    "prim",
    "response",
    "sensitivity",
    "summary",
]
