"""SDF files, as Gazebo has them, read into a tree of links."""
