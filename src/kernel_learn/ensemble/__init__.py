"""Many kernels on many views: members, screening, stacking, leaves."""
