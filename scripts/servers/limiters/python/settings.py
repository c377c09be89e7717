"""The arguments of the servers, and their answers."""

import sys

PORT = int(sys.argv[1])
RATE = sys.argv[2]  # as the limiter writes it, such as 600/minute
LATENCY = float(sys.argv[3])  # of an answer, in seconds
STATUS = int(sys.argv[4])  # of a refusal; 0 for the limiter's own

USAGE = {"plan": "test", "remaining": "unlimited"}
ANSWER = {"taxonomy_v3": [{"value": "Arts", "confidence": 0.5}]}

# More threads and connections than bulkcat needs: the limiters limit, not waitress.
SERVER = {"host": "127.0.0.1", "threads": 64, "connection_limit": 4096, "backlog": 4096, "asyncore_use_poll": True}
