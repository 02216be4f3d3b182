"""How many threads BLAS may use."""

from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

# Up to so many rows one BLAS thread is as good as several, and on a busy machine far
# better: InductiveKernel on 178 rows took 57 s with two threads and 0.2 s with one.
SMALL_ROWS = 1500


@cache
def thread_controller() -> ThreadpoolController:
    """Found once: looking through the loaded libraries takes milliseconds."""
    return ThreadpoolController()


def one_thread_if_small(X: object) -> AbstractContextManager[object]:
    """Many small factorisations on several threads spend their time waiting for each other."""
    shape = getattr(X, "shape", None)
    has_length = shape is None and hasattr(X, "__len__")  # one number has a shape, and no length
    n = shape[0] if shape else len(X) if has_length else SMALL_ROWS + 1  # type: ignore[arg-type]
    is_small = isinstance(n, int) and n <= SMALL_ROWS  # a lazy frame does not know its n
    return thread_controller().limit(limits=1) if is_small else nullcontext()
