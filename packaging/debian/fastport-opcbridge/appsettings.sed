# Certificates survive an upgrade.
/^  "LatencyStats": {/i\
  "OpcUaServer": {\
    "Certificates": {\
      "Directory": "/var/lib/fastport/opcbridge/pki"\
    }\
  },
