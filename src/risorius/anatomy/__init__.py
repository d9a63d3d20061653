"""The subject: tables as data, parametric builders for torso and hand, skin; Spec in, Model out."""

from risorius.anatomy.model import build
from risorius.anatomy.torso.build import build_torso

__all__ = ["build", "build_torso"]
