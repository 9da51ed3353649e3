"""ZDT1 by pymoo's own NSGA-II with its defaults: a front for each seed of the arguments, in a line of JSON."""

import json
import sys
import time

import pymoo
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize
from pymoo.problems import get_problem

seeds, factors, population, evaluations = map(int, sys.argv[1:])
started = time.process_time()
fronts = []
for seed in range(seeds):
    problem = get_problem("zdt1", n_var=factors)
    found = minimize(problem, NSGA2(pop_size=population), ("n_eval", evaluations), seed=seed)
    fronts.append(found.F.tolist())
cpu_s = time.process_time() - started
print(json.dumps({"version": pymoo.__version__, "cpu_s": cpu_s, "fronts": fronts}))
