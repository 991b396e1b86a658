"""What the workbench's pages show, in words."""
