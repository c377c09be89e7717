package jobs_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bulkcat/bulkcat/pipeline/jobs"
)

func ExampleRead() {
	dir, err := os.MkdirTemp("", "bulkcat-example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "jobs.toml")
	text := `[defaults]
rate = "50/s"

[[job]]
kind = "website"
input = ["domains.csv"]
output = "domains.parquet"
`
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		panic(err)
	}
	file, err := jobs.Read(path)
	if err != nil {
		panic(err)
	}
	for i := range file.Len() {
		job, err := file.Job(i)
		if err != nil {
			panic(err)
		}
		fmt.Println(job.Kind, job.Inputs)
		for _, s := range job.Settings {
			fmt.Println(s.Key, "=", jobs.Quoted(s.Value))
		}
	}
	// Output:
	// website [domains.csv]
	// rate = "50/s"
	// output = "domains.parquet"
}
