# The configuration of the packages, from the programs' own: paths relative to the working directory, which is the log's, and no time,
# which the journal has.
s|"logs/fastport-.log"|"fastport-.log"|
s|"shared": true|"shared": false|
s|"{Timestamp:HH:mm:ss.fff} {Level:u3} {Message:lj}|"{Level:u3} {Message:lj}|
