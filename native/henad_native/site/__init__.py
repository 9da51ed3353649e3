"""The page as a static folder: fetching its pinned files, building it, serving it on this machine."""

from henad_native.site.build import SiteReport, build_site
from henad_native.site.errors import FetchError, PinError, SiteError, SourceError
from henad_native.site.fetch import cache_folder
from henad_native.site.serve import ServedFolder, serve_folder

__all__ = [
    "FetchError",
    "PinError",
    "ServedFolder",
    "SiteError",
    "SiteReport",
    "SourceError",
    "build_site",
    "cache_folder",
    "serve_folder",
]
