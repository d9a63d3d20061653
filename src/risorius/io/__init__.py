"""Formats: USD, glTF, Alembic, XML, C3D, TRC, BVH, sound, takes."""
