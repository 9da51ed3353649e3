"""From rows to answers: curves with intervals, bands over time, indices, comparisons; one for all who show them."""
