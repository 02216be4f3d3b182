"""Rows in blocks from anywhere: arrays, files, Parquet, Dask."""
