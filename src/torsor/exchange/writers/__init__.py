"""Models written as files of other programs: URDF, MJCF, SDF."""
