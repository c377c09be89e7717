// Package suites tests package reader and the normalizer of package client with test files of other projects:
// parquet-testing/data and bad_data (apache/parquet-testing), json/test_parsing (nst/JSONTestSuite), csv-spectrum
// (maxogden/csv-spectrum) and url (web-platform-tests), all in one folder. pyarrow and DuckDB are the references for
// Parquet. Each file is also read cut at 20 places, and with one bit flipped at 50 places.
//
//	make test-suites SUITES=FOLDER
package suites
