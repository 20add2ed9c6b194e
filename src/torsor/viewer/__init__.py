"""Models and results to look at: the viewer in a browser, one-file HTML, pictures, notebooks."""
