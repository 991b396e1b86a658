"""The services of the workbench."""

from workbench.services.story import Story, read_story
