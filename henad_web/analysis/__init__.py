"""From rows to answers: curves with intervals, bands over time, indices, comparisons; one for all who show them."""

from henad_web.analysis.bands import Bands, bands
from henad_web.analysis.compare import Comparison, compare
from henad_web.analysis.heatmap import Heatmap, heatmap
from henad_web.analysis.pieces import Analysis
from henad_web.analysis.response import Response, response
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
    "Response",
    "Summary",
    "bands",
    "compare",
    "heatmap",
    "response",
    "summary",
]
