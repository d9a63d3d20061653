"""Spec in, Model out."""

from __future__ import annotations

from risorius.anatomy.materials import joints, lung, materials, softness
from risorius.anatomy.torso.build import build_torso
from risorius.core.model import Model
from risorius.core.spec import Spec


def build(spec: Spec) -> Model:
    """The frozen model of a subject."""
    torso = build_torso(spec)
    soft = softness(spec)
    found = materials(torso.groups, spec)
    return Model(torso, found, joints(torso.bodies.names, spec), soft, lung(spec, torso, soft))
