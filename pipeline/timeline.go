package pipeline

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/bulkcat/bulkcat/writer/regular"
)

// Moment is a line of a journal: a start, its counts and state at that time, or its end.
type Moment struct {
	At       time.Time
	Start    bool
	Bulkcat  string // of a start
	State    State  // else
	Records  int64  // with a status, of the start so far; so are the other counts
	Requests int64
	Retries  int64
	Outcomes Attempts
	Ending   Ending // of an end
}

// ReadJournal calls use for each line of the journal at path, in order. It leaves out damaged lines, and calls use for
// no line if the file is missing, or is the journal of another run than the account's; account may be nil.
func ReadJournal(path string, account *Account, use func(Moment)) error {
	file, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	for lines := bufio.NewReaderSize(file, mostOfLine); ; {
		text, _, err := nextLine(lines)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var line journalLine
		switch {
		case json.Unmarshal(text, &line) != nil:
			continue
		case line.Event == journalStart && account != nil && line.Run != account.run():
			return nil
		}
		use(Moment{
			At: line.At, Start: line.Event == journalStart, Bulkcat: line.Bulkcat, State: line.State,
			Records: line.Records, Requests: line.Requests, Retries: line.Retries, Outcomes: line.Outcomes, Ending: line.Ending,
		})
	}
}
