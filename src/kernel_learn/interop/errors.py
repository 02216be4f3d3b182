"""What is raised of model files."""

from kernel_learn.warn import escaped


class ModelFileError(ValueError):
    """A model that cannot be written as a file, or a file that is refused."""

    def __init__(self, text: str) -> None:
        super().__init__(escaped(text))  # which may quote what a file says


class WrongStateError(ValueError):
    """Arrays that do not belong together: half a sentence, to which the file's name is added."""
