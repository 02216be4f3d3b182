"""A graph of ONNX nodes, written like formulas: all in double precision, rows by rows.

Values are names of tensors; arrays and numbers become constants. Inside, all
is double, whatever the rows are: sums of kernel values cancel, and single
precision would leave few digits of them.
"""

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import BaseEstimator

from kernel_learn.arrays import Array

Value = str  # the name of a tensor
Built = TypeVar("Built")

# acos by the rational function of Sun's fdlibm, to the last digit: no runtime has it in double.
ACOS_P = (
    1.66666666666666657415e-01,
    -3.25565818622400915405e-01,
    2.01212532134862925881e-01,
    -4.00555345006794114027e-02,
    7.91534994289814532176e-04,
    3.47933107596021167570e-05,
)
ACOS_Q = (
    1.0,
    -2.40339491173441421878,
    2.02094576023350569471,
    -6.88283971605453293030e-01,
    7.70381505559019352791e-02,
)
# The normal quantile by Wichura (1988, AS 241, PPND16), for probabilities above 1.4e-11.
MIDDLE_P = (
    3.3871328727963666080e0,
    1.3314166789178437745e2,
    1.9715909503065514427e3,
    1.3731693765509461125e4,
    4.5921953931549871457e4,
    6.7265770927008700853e4,
    3.3430575583588128105e4,
    2.5090809287301226727e3,
)
MIDDLE_Q = (
    1.0,
    4.2313330701600911252e1,
    6.8718700749205790830e2,
    5.3941960214247511077e3,
    2.1213794301586595867e4,
    3.9307895800092710610e4,
    2.8729085735721942674e4,
    5.2264952788528545610e3,
)
TAIL_P = (
    1.42343711074968357734e0,
    4.63033784615654529590e0,
    5.76949722146069140550e0,
    3.64784832476320460504e0,
    1.27045825245236838258e0,
    2.41780725177450611770e-1,
    2.27238449892691845833e-2,
    7.74545014278341407640e-4,
)
TAIL_Q = (
    1.0,
    2.05319162663775882187e0,
    1.67638483018380384940e0,
    6.89767334985100004550e-1,
    1.48103976427480074590e-1,
    1.51986665636164571966e-2,
    5.47593808499534494600e-4,
    1.05075007164441684324e-9,
)


Operand = Value | float | Array | list[str]  # all but values become constants


class Variable(Protocol):
    """An input or output of an operator of skl2onnx."""

    full_name: str
    type: object
    operators_inputs_: list["Operator"]


class Operator(Protocol):
    """An estimator in the graph of skl2onnx."""

    raw_operator: BaseEstimator
    type: str | None
    inputs: list[Variable]
    outputs: list[Variable]
    scope_inst: "Scope"
    kernel_learn_outputs: list[str]


class Scope(Protocol):
    """Where skl2onnx keeps names, variables and operators."""

    operators: dict[str, Operator]

    def get_unique_variable_name(self, seed: str) -> str: ...

    def get_unique_operator_name(self, seed: str) -> str: ...

    def get_options(
        self, model: BaseEstimator, default_values: dict[str, bool], fail: bool = True
    ) -> dict[str, object]: ...

    def declare_local_operator(self, type: str, raw_model: BaseEstimator) -> Operator: ...

    def declare_local_variable(self, raw_name: str, type: object) -> Variable: ...


class Container(Protocol):
    """What a converter of skl2onnx adds to."""

    def add_node(
        self, op_type: str, inputs: list[str], outputs: str, name: str, **attributes: int
    ) -> None: ...

    def add_initializer(
        self, name: str, onnx_type: object, shape: list[int] | None, content: object
    ) -> None: ...


class Graph:
    """Nodes and constants that are added to a container of skl2onnx."""

    def __init__(self, scope: Scope, container: Container) -> None:
        self.scope, self.container = scope, container
        self._built: dict[Hashable, Any] = {}  # under what it was built from

    def once(self, key: Hashable, build: Callable[[], Built]) -> Built:
        """What is built under a key: now, or when it was first asked for."""
        if key not in self._built:
            self._built[key] = build()
        found: Built = self._built[key]
        return found

    def __call__(self, op: str, *inputs: Operand, **attributes: int) -> Value:
        """A node with one output; numbers and arrays among the inputs become constants."""
        name: Value = self.scope.get_unique_variable_name(f"kl_{op.lower()}")
        self.container.add_node(
            op,
            [value if isinstance(value, str) else self.constant(value) for value in inputs],
            name,
            name=self.scope.get_unique_operator_name(f"kl_{op}"),
            **attributes,
        )
        return name

    def constant(self, value: Operand) -> Value:
        """An array or a number, as a double, an integer or a text."""
        from onnx import TensorProto
        from onnx.numpy_helper import from_array

        array = np.asarray(value)
        name: Value = self.scope.get_unique_variable_name("kl_constant")
        if array.dtype.kind in "OUS":
            texts = [str(text).encode() for text in array.ravel()]
            self.container.add_initializer(name, TensorProto.STRING, list(array.shape), texts)
        else:
            kind = np.int64 if array.dtype.kind in "iub" else np.float64
            tensor = from_array(np.ascontiguousarray(array, dtype=kind).reshape(array.shape))
            self.container.add_initializer(name, None, None, tensor)
        return name

    def cast(self, value: Value, dtype: DTypeLike) -> Value:
        from onnx.helper import np_dtype_to_tensor_dtype

        return self("Cast", value, to=np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def rename(self, value: Value, name: str) -> None:
        """Give a value the name of an output."""
        self.container.add_node(
            "Identity", [value], name, name=self.scope.get_unique_operator_name("kl_Identity")
        )

    def linear(self, value: Value, coef: Array, intercept: Array) -> Value:
        """value @ coef + intercept."""
        return self("Add", self("MatMul", value, coef), np.asarray(intercept, dtype=np.float64))

    def scaled(self, value: Value, factor: float, X: Value) -> Value:
        """factor * value, for values (n, m) of the rows X beside a product of matrices.

        onnxruntime merges a constant factor into such a product and rounds it to single
        precision there; a factor for each row is left alone.
        """
        key = ("factor", X, factor)
        return self("Mul", value, self.once(key, lambda: self.like_rows(X, np.array([factor]))))

    def columns(self, value: Value, positions: Array | list[int]) -> Value:
        return self("Gather", value, np.asarray(positions, dtype=np.int64), axis=1)

    def row_sums(self, value: Value) -> Value:
        """(n, 1)."""
        return self("ReduceSum", value, np.array([1]), keepdims=1)

    def total(self, values: list[Value]) -> Value:
        found = values[0]
        for value in values[1:]:
            found = self("Add", found, value)
        return found

    def column(self, value: Value) -> Value:
        """A tensor (n, 1) as (n,)."""
        return self("Squeeze", value, np.array([1]))

    def like_rows(self, X: Value, row: Array) -> Value:
        """The row once for each row of X, (n, len(row))."""

        def shape() -> Value:
            n = self("Slice", self("Shape", X), np.array([0]), np.array([1]))
            return self("Concat", n, np.array([1]), axis=0)  # Expand keeps the width

        wanted = self.once(("rows", X), shape)
        return self("Expand", np.asarray(row, dtype=np.float64)[None, :], wanted)

    def like_zeros(self, X: Value, width: int) -> Value:
        """Integer zeros, (n, width)."""
        return self.cast(self.like_rows(X, np.zeros(width)), np.int64)

    def polynomial(self, x: Value, coefs: tuple[float, ...]) -> Value:
        """sum_i coefs[i] x^i by Horner."""
        found: Value | float = coefs[-1]
        for coef in coefs[-2::-1]:
            found = self("Add", self("Mul", found, x), coef)
        return str(found)

    def ratio(self, x: Value, over: tuple[float, ...], under: tuple[float, ...]) -> Value:
        return self("Div", self.polynomial(x, over), self.polynomial(x, under))

    def acos(self, x: Value) -> Value:
        """For x within [-1, 1]."""
        size = self("Abs", x)
        is_small = self("Less", size, 0.5)
        half = self("Mul", self("Sub", 1.0, size), 0.5)
        z = self("Where", is_small, self("Mul", x, x), half)
        r = self("Mul", z, self.ratio(z, ACOS_P, ACOS_Q))
        middle = self("Sub", np.pi / 2, self("Add", x, self("Mul", x, r)))
        root = self("Sqrt", half)
        tail = self("Mul", self("Add", root, self("Mul", root, r)), 2.0)
        tail = self("Where", self("Less", x, 0.0), self("Sub", np.pi, tail), tail)
        return self("Where", is_small, middle, tail)

    def normal_quantile(self, p: Value) -> Value:
        """For p within [1.4e-11, 1 - 1.4e-11]."""
        q = self("Sub", p, 0.5)
        is_middle = self("LessOrEqual", self("Abs", q), 0.425)
        inside = self("Sub", 0.180625, self("Mul", q, q))
        middle = self("Mul", q, self.ratio(inside, MIDDLE_P, MIDDLE_Q))
        least = self("Min", p, self("Sub", 1.0, p))
        r = self("Sub", self("Sqrt", self("Neg", self("Log", least))), 1.6)
        tail = self("Mul", self("Sign", q), self.ratio(r, TAIL_P, TAIL_Q))
        return self("Where", is_middle, middle, tail)

    def interpolate(self, X: Value, knots: Array, values: Array) -> Value:
        """np.interp of each column between its knots, both (n_knots, d) and sorted.

        The place among the knots by halving, which holds no more than the rows.
        """
        columns = [np.unique(column, return_index=True) for column in knots.T]
        steps = max(len(own) for own, _ in columns).bit_length()
        size, d = 2**steps, len(columns)
        x, y, slope = np.full((d, size), np.inf), np.zeros((d, size)), np.zeros((d, size))
        for c, (own, first) in enumerate(columns):
            m, level = len(own), values[first, c]
            x[c, :m], y[c, :m] = own, level  # no row reaches the places after them
            slope[c, : m - 1] = np.diff(level) / np.diff(own)
        place = self("Expand", self.constant(np.arange(d)[None, :] * size), self("Shape", X))
        flat = self.constant(x.ravel())
        for step in 2 ** np.arange(steps)[::-1]:
            further = self("Add", place, np.array(step))
            reached = self("GreaterOrEqual", X, self("Gather", flat, further))
            place = self("Where", reached, further, place)
        ahead = self("Max", self("Sub", X, self("Gather", flat, place)), 0.0)
        rise = self("Mul", ahead, self("Gather", slope.ravel(), place))
        return self("Add", self("Gather", y.ravel(), place), rise)

    def labels(self, winners: Value, classes: Array) -> Value:
        """The class of each index."""
        return self("Gather", classes, winners)
