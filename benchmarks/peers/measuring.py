"""What a script of this folder prints: CPU seconds, peak memory of the work, error. NumPy only."""

import json
import os
import resource
import sys
import time

import numpy as np


def measure(name, work):
    """Run ``work(X, y, X_new)`` on the rows of the file given; print its figures as JSON."""
    # A child's peak starts at what is held now, not at the peak of the imports.
    child = os.fork()
    if child:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    with np.load(sys.argv[1]) as rows:
        X, y, X_new, y_new = (rows[key] for key in ("X", "y", "X_new", "y_new"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    predict = work(X, y)
    seconds = time.process_time() - start
    peak = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    error = float(np.mean(np.asarray(predict(X_new)) != y_new))
    figures = {"name": name, "seconds": seconds, "bytes": max(peak, 1), "error": error}
    print(json.dumps(figures))
