"""The bundled spiders, and the base class of all that join the fleet."""
