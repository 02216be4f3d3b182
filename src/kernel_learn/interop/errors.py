"""What is raised of model files."""


class ModelFileError(ValueError):
    """A model that cannot be written as a file, or a file that is refused."""


class WrongStateError(ValueError):
    """Arrays that do not belong together: half a sentence, to which the file's name is added."""
