// Command evidence prints the variables of the classifier's confidences. It reads texts of one kind, one per line, and prints
// for each a JSON list of at most three entries. scripts/calibrate starts it:
//
//	go run ./client/embedded/internal/evidence CALIBRATION < texts
//
// CALIBRATION is the name of a calibration in package classify, such as titleFit.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("name one calibration, not %q", args)
	}
	evidence, err := classify.EvidenceOf(args[0])
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	encoder := json.NewEncoder(buffered)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20) // a page is one line
	for lines.Scan() {
		if err := encoder.Encode(evidence(lines.Text())); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return buffered.Flush()
}
