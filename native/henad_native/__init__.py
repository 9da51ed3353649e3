"""What henad-web can do on native Python alone: threads, directories, the command line, building the page.

`henad_web` finds this package through its targets module; programs use the functions of `henad_web`. Nothing here may
change a result: whatever decides one belongs to `henad_web`, so that a browser has it too.
"""
