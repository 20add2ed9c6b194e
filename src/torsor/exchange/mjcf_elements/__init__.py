"""What an MJCF file adds to the tree of its links: actuators, contacts, tendons, sensors, a medium, shapes."""
