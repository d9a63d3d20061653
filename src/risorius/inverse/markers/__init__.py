"""What markers on a trunk tell: sway taken out, breaths found and averaged, volumes, which marker sits where."""
