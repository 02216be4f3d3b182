"""Cases to come."""


def cases():
    return {}
