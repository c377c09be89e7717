package process

import (
	"encoding/csv"
	"os"
)

// Rows reads a CSV file. It returns the values of each row by the names of the header. It does not use package reader, because
// its callers test outputs independently of that package.
func Rows(path string) ([]map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil || len(records) == 0 {
		return nil, err
	}
	rows := make([]map[string]string, len(records)-1)
	for i, record := range records[1:] {
		rows[i] = make(map[string]string, len(record))
		for k, value := range record {
			rows[i][records[0][k]] = value
		}
	}
	return rows, nil
}
