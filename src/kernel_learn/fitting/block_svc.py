"""What a classifier by margins does where rows are too many to be held: machines in blocks."""

from functools import partial
from numbers import Real
from typing import Self

from kernel_learn.arrays import Array, ClassWeight
from kernel_learn.criteria.joint_problem import map_rows, orthonormal_span
from kernel_learn.criteria.landmark_margin import LandmarkSubspaceMargin
from kernel_learn.fitting.base import SubspaceTransformer
from kernel_learn.fitting.block_machines import (
    bank_criterion,
    calibrate_scores,
    can_hold,
    count_machines,
    solve_in_blocks,
)
from kernel_learn.fitting.kernel_weights import WeightLearner
from kernel_learn.fitting.loo_selection import LeaveOneOutChoice
from kernel_learn.fitting.parameters import check_n_components
from kernel_learn.fitting.training import Labelled, class_prices
from kernel_learn.kernels.base import Kernel
from kernel_learn.representations.base import Representation
from kernel_learn.representations.moment_form import MomentForm
from kernel_learn.representations.plan import Needs, Plan
from kernel_learn.representations.pooled import PooledSource
from kernel_learn.solvers.eigen import fix_signs
from kernel_learn.solvers.joint import Gap

# A Hessian for each of a few machines, and what is solved with them.
BLOCK_NEEDS = Needs(exact=5.5, features=16.0, compared=True)
# With landmarks and more rows than this the loss is the squared hinge, unless it is given.
BLOCK_ROWS = 20_000


class BlockMachines(LeaveOneOutChoice, WeightLearner, SubspaceTransformer):
    """For SubspaceSVC: the squared hinge, by passes over blocks of landmark features."""

    C: float
    loss: str
    method: str
    uncorrelated: bool
    class_weight: ClassWeight
    gap_: float
    _weights_lower: float

    streams, stream_needs = True, BLOCK_NEEDS

    def __getstate__(self) -> dict[str, object]:
        """The parts of a gap: a model file holds plain numbers."""
        state = super().__getstate__()
        if isinstance(gap := state.get("gap_"), Gap):
            state["gap_"] = [float(gap), gap.structural]
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        if isinstance(parts := state.get("gap_"), list):
            state = {**state, "gap_": Gap(*parts)}
        super().__setstate__(state)

    def _goes_in_blocks(self, data: Labelled) -> bool:
        """Whether the loss is the square, by passes over blocks of landmark features."""
        if isinstance(data.source, PooledSource) or self.loss == "squared_hinge":
            return True
        few = data.source.n_rows <= BLOCK_ROWS or data.source.is_matrix
        exact = isinstance(self.landmarks, str) and self.landmarks == "all"
        simple = self.method == "exact" and data.names is None and self.n_components is None
        return self.loss == "auto" and not few and not exact and simple

    def _check_stream(self) -> None:
        if self.loss == "hinge" or self.method == "alternating":
            raise ValueError(
                f"SubspaceSVC(loss={self.loss!r}, method={self.method!r}) keeps all rows, and "
                "those of a stream come and go. Use loss='squared_hinge' and method='exact'."
            )

    def _plan_stream(self, kernels: list[Kernel], pool: PooledSource) -> Plan:
        pool.check_rewinds(type(self).__name__)
        return super()._plan_stream(kernels, pool)

    def _landmark_weights(self, data: Labelled, form: Representation, prices: Array) -> Array:
        """Weights of a bank; learned with the machines, if they are, at one reg."""
        if not (isinstance(self.weights, str) and self.weights == "learn"):
            return self._weigh_without_criterion(form, data.names or [])
        if not (self.uncorrelated and isinstance(self.reg, Real) and isinstance(form, MomentForm)):
            raise ValueError(
                "SubspaceSVC(weights='learn', loss='squared_hinge') learns weights on landmarks, "
                "with uncorrelated=True and a number for reg. Give these, or weights='loo'."
            )
        criterion, self.plan_ = bank_criterion(
            LandmarkSubspaceMargin,
            data,
            form.features,
            prices,
            self.plan_,
            self.tol,
            reg=float(self.reg),
        )
        found = self._weigh_bank(form, data.names or [], criterion)
        self._weights_lower = found.result.value - found.result.gap
        return found.theta

    def _fit_in_blocks(self, data: Labelled, regs: list[float]) -> Self:
        """The machines of n_components >= n_classes with squared hinge, a pass a step."""
        data = self._choose_width(data, regs)
        self.classes_, k = data.classes, len(data.classes)
        q = count_machines(data)
        if check_n_components(self.n_components, k, self) < q or self.method != "exact":
            raise ValueError(
                f"SubspaceSVC(loss='squared_hinge') has one direction for each of the {q} machines "
                "and method='exact': pass n_components=None, or loss='hinge'."
            )
        price = class_prices(self.class_weight, data)
        # of one kernel: weights of several are not known yet
        holds = None if data.names is not None else partial(can_hold, data)
        data, form = self._represent(data, needs=BLOCK_NEEDS, holds=holds)
        theta = None
        if data.names is not None:
            theta = self._landmark_weights(data, form, float(self.C) * price)
        sample = self._combine(form, theta)
        self.reg_ = self._choose_reg(sample, regs)
        w, U = sample.spectrum.w, sample.spectrum.U
        coordinates = map_rows(sample, w, U, self.reg_, self.uncorrelated)
        found, self.plan_ = solve_in_blocks(
            data,
            sample,
            coordinates,
            float(self.C) * price,
            self.plan_,
            tol=self.tol,
            max_iter=self.max_iter,
            held=getattr(form, "held", None),
        )
        V = found.point[:-1]
        E = fix_signs(orthonormal_span(V))
        self.coef_, self.intercept_ = (E.T @ V).T, found.point[-1]
        self.upper_bound_ = self.objective_ = self.relaxed_bound_ = found.value
        self.lower_bound_ = found.value - found.gap
        if data.names is not None and isinstance(self.weights, str) and self.weights == "learn":
            self.lower_bound_ = min(self.lower_bound_, self._weights_lower)
        gap = Gap(max(found.value - self.lower_bound_, 0.0))
        self.gap_, self.history_, self.n_iter_ = gap, found.history, found.n_iter
        self._store_kernel(sample.expand(coordinates.lift(E)))
        sharpness = calibrate_scores(
            data,
            sample,
            coordinates,
            found,
            float(self.C) * price,
            lam=self.reg_,
            uncorrelated=self.uncorrelated,
        )
        self._sharpen(sharpness, data.source)
        return self
