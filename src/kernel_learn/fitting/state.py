"""What an estimator holds, as names and numbers that a file without pickle can hold too."""

import re
from inspect import Parameter, signature

from sklearn import config_context
from sklearn.utils.metadata_routing import MetadataRequest

REQUESTS = "_requests"


class PlainState:
    """A mixin for ``BaseEstimator``: what ``set_fit_request`` and its kin were told, by name.

    scikit-learn keeps it in an object that holds the estimator again, round which a writer of
    files goes for ever.
    """

    def __getstate__(self) -> dict[str, object]:
        state = dict(super().__getstate__())  # type: ignore[call-overload]
        held = [name for name, value in state.items() if isinstance(value, MetadataRequest)]
        for name in held:
            routed = state.pop(name)
            state[REQUESTS] = {m: dict(getattr(routed, m).requests) for m in routed_methods(self)}
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        requests = state.get(REQUESTS, {})
        assert isinstance(requests, dict)
        own = {name: value for name, value in state.items() if name != REQUESTS}
        super().__setstate__(defaults_of(type(self)) | own)  # type: ignore[misc]
        with config_context(enable_metadata_routing=True):
            for method, asked in requests.items():
                getattr(self, f"set_{method}_request")(**asked)


def defaults_of(kind: type) -> dict[str, object]:
    """Defaults of the parameters, for those that an earlier version did not have."""
    given = signature(kind).parameters.values()
    return {p.name: p.default for p in given if p.default is not Parameter.empty}


def routed_methods(estimator: object) -> list[str]:
    """Methods of an estimator that can ask for metadata."""
    found = (re.fullmatch(r"set_(\w+)_request", name) for name in dir(type(estimator)))
    return [name[1] for name in found if name]
