"""What the workbench finds out."""

from workbench.services.story import Story, read_story
