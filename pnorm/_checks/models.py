"""Functions of rows, weak rankers and coefficients that are called with a model."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

__all__ = ["takes_no_model"]

P = ParamSpec("P")
R = TypeVar("R")


def takes_no_model(estimator: str, saved: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function raise TypeError if an argument is a model.

    The message proposes a member of an estimator, such as ``explain(X)``, and code for a `ScoringFunction`.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for x in (*args, *kwargs.values()):
                if _is_estimator(x):
                    known = hasattr(type(x), estimator.partition("(")[0])
                    verb = "Call" if "(" in estimator else "Use"
                    raise TypeError(_refused(function, x) + (f". {verb} model.{estimator}" if known else ""))
                if _is_saved(x):
                    raise TypeError(f"{_refused(function, x)}. Call {saved}")
            return function(*args, **kwargs)

        return checked

    return decorate


def _refused(function: Callable[..., Any], model: Any) -> str:
    return (
        f"pnorm.{function.__name__} takes weak rankers and coefficients (H and lam) instead of a model; "
        f"got {type(model).__name__}"
    )


def _is_estimator(x: Any) -> bool:
    """Return whether this is an estimator of scikit-learn, by the methods of its class."""
    return hasattr(type(x), "fit") and hasattr(type(x), "predict")


def _is_saved(x: Any) -> bool:
    """Return whether this is a `ScoringFunction`, which `load` returns."""
    return {"lam", "H", "intercept"} <= set(getattr(type(x), "__dataclass_fields__", ()))
