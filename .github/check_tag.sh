# A release is built from the tag that names its version.
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' src/kernel_learn/_version.py)
if [ "v$version" != "$GITHUB_REF_NAME" ]; then
    echo "The tag is $GITHUB_REF_NAME, and the version in _version.py is $version."
    exit 1
fi
