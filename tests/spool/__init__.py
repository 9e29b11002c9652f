"""The spool: durability, ownership between processes, forks, damage and bounds."""
