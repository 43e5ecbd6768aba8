"""OpenTelemetry traces of requests: push, lease, fetch, parse, store. Off by default, and then OpenTelemetry is not
imported: only provider.py, pushes.py and leases.py do that, which nobody imports before traces are asked for."""
