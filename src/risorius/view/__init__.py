"""What people look at: report page, plots, video, live page."""
