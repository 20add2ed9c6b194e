"""The kernels of a run as graphs: accelerations, outputs, start functions, equations of implicit steps."""
