"""Reading results back: tables, series, replays, checks, archives and where rows came from."""
