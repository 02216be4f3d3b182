"""Where models leave the process: files without pickle, ONNX, and Dask's workers."""
