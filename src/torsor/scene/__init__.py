"""What a mechanism looks like, as plain data: bodies with shapes, joints, forces. Numbers and names only; no motion."""
