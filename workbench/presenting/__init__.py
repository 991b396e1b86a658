"""The words of the workbench's pages."""
