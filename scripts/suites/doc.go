// Package suites holds package reader and the normalizer of package client against test files that others made:
// parquet-testing/data and bad_data (apache/parquet-testing), json/test_parsing (nst/JSONTestSuite), csv-spectrum
// (maxogden/csv-spectrum) and url (web-platform-tests), all in one folder. pyarrow and DuckDB are the references for
// Parquet. Each file is also read cut at 20 places and with one bit flipped in 50.
//
//	make test-suites SUITES=FOLDER
package suites
