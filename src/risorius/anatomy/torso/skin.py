"""The skin, generated from bones and cavity."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull

from risorius.anatomy.torso.frame import Frame
from risorius.anatomy.torso.loft import mesh
from risorius.core.spec import Spec
from risorius.core.torso import Bodies, Mesh, Surface


def build_skin(spec: Spec, frame: Frame, bodies: Bodies, surface: Surface) -> Mesh:
    """First form: the hull of trunk bones and cavity."""
    cloud = np.concatenate([surface.points, *[m.vertices for n, m in zip(bodies.names, bodies.meshes) if "rib" in n]])
    hull = ConvexHull(cloud)
    used, index = np.unique(hull.simplices, return_inverse=True)
    return mesh(cloud[used], index.reshape(-1, 3))
