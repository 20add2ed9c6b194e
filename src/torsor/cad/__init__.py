"""CAD assemblies as mechanisms: STEP and FreeCAD files, and objects of build123d."""
