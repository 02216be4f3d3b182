"""What a class says of its parameters as its bases do is written once and read everywhere."""

import inspect

import kernel_learn as kl
from kernel_learn.fitting.docstrings import read_entries, with_inherited_entries


class Base:
    """A base.

    Parameters
    ----------
    kernel : str
        How alike
        two rows are.
    reg : float
        Of the base.

    Attributes
    ----------
    classes_ : ndarray
    plan_ : Plan
        What was done.
    """


class Middle(Base):
    """Between.

    Parameters
    ----------
    reg : float
        Of the middle.
    """


def test_a_line_of_names_stands_for_the_entries_of_the_nearest_base():
    class Derived(Middle):
        """Derived.

        Parameters
        ----------
        kernel, reg
        own : int
            Its own.

        Attributes
        ----------
        classes_, plan_
        unknown, kernel
        """

    assert with_inherited_entries(Derived).splitlines() == [
        "Derived.",
        "",
        "Parameters",
        "----------",
        "kernel : str",
        "    How alike",
        "    two rows are.",
        "reg : float",
        "    Of the middle.",
        "own : int",
        "    Its own.",
        "",
        "Attributes",
        "----------",
        "classes_ : ndarray",
        "plan_ : Plan",
        "    What was done.",
        "unknown, kernel",
    ]


def test_without_docstrings_there_is_nothing_to_complete():
    class Silent(Base):
        pass

    assert with_inherited_entries(Silent) is None


def test_estimators_say_of_landmarks_what_their_family_says():
    said = {name: read_entries(getattr(kl, name).__doc__) for name in ("KernelPLS", "KernelRCA")}
    assert "1000 landmarks" in " ".join(said["KernelPLS"]["landmarks"])
    assert "300 landmarks" in " ".join(said["KernelRCA"]["landmarks"])
    assert inspect.getdoc(kl.KernelPLS).count("landmarks : ") == 1
