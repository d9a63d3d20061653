"""A breath fitted to what was recorded of it: what is driven, what the torso answers, what is left over."""
