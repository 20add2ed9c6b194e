"""Many runs of one system in compiled code."""
