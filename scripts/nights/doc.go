// Package nights simulates nights: whole runs against services with limits, faults, outages and quotas, in synthetic time.
// Everything about a night is drawn from its seed. Each night is compared with the night of a client that knows everything: see
// ideal. `make nights NIGHTS=1000 SEED=1` prints a table; a short form belongs to the tests.
package nights
