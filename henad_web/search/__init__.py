"""What a search is: the space it looks through, its algorithms, and what they are asked and told (docs/search.md).

`searcher` is the protocol, `space` the genomes, `log` and `scoring` what is known so far, `offspring` a generation on
its way, `fronts` who leads by several objectives, `variation` how real-coded genomes are crossed and mutated, `pattern`
the archive of a pattern space exploration; each algorithm has a file, and `algorithms` knows them all. Everything is a
pure function of a seed and of what was told. `plan` alone knows a model, and which runs a candidate stands for.
"""

from henad_web.search.algorithms import searcher_of
from henad_web.search.custom import SearcherFactory
from henad_web.search.optuna_study import asking
from henad_web.search.plan import SearchPlan
from henad_web.search.searcher import Candidate, Evaluation, Origin, Searcher, SlicedSearcher
from henad_web.search.space import SearchSpace

__all__ = [
    "Candidate",
    "Evaluation",
    "Origin",
    "SearchPlan",
    "SearchSpace",
    "Searcher",
    "SearcherFactory",
    "SlicedSearcher",
    "asking",
    "searcher_of",
]
