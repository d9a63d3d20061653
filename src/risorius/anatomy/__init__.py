"""The subject: tables as data, parametric builders for torso and hand, skin; Spec in, Model out."""
