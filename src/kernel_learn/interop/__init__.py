"""Where models leave the process: files without pickle, ONNX, AutoGluon."""
