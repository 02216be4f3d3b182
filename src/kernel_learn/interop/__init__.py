"""Where models leave the library: files without pickle, and ONNX."""
