package runfiles

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// Journal is the file of JSON lines that records a run during the run. It is removed at the end of a start, whose account then
// has the time line. So a journal has the present start and the starts before it that were killed. Each start appends a line
// for its beginning; then a line with its counts and state at each change of state, and once a second while the counts change;
// and a line for its ending. These lines are synced. In between, the last line is written again without a sync: by an attempt
// of a hosted service that ends, if the line lacks more attempts than are in flight; and in a run whose requests have a bound,
// by each attempt before it begins. Each line has all counts of the start so far, so the next line makes up for a line that
// could not be written.
//
// The requests of a start that was killed come from its last line. Their number differs from the requests that reached the
// service by at most the requests in flight: the line may lack as many, or count requests that did not reach the service.
// After a power failure the requests of a second and of one fsync may be missing as well.
type Journal struct {
	file *os.File
	size int64 // bytes of whole lines
}

// OpenJournal opens the journal of the run with the RunID run. It cuts off a damaged end, and empties the journal of another
// run. The error is errForeign if the file is no journal.
func OpenJournal(path, run string) (*Journal, error) {
	file, err := regular.OpenOwn(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	_, size, err := readStarts(file, run)
	if err == nil {
		err = file.Truncate(size)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Journal{file: file, size: size}, nil
}

// ReadStarts returns the starts in the journal of the run with the RunID run; none if the journal is missing or belongs to
// another run.
func ReadStarts(path, run string) (starts []account.EarlierRun, err error) {
	err = readIfThere(path, func(file io.Reader) error {
		starts, _, err = readStarts(file, run)
		return err
	})
	return starts, err
}

// readIfThere calls read with the file at path. It does nothing if the file is missing.
func readIfThere(path string, read func(io.Reader) error) error {
	file, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close() // only read from
	return read(file)
}

// readStarts reads the starts in a journal. whole is the offset after the last line that is not damaged; 0 for another run.
func readStarts(file io.Reader, run string) (starts []account.EarlierRun, whole int64, err error) {
	size, isOurs := int64(0), false
	err = eachLine(file, func(text []byte, line *account.JournalLine, end int64) (more bool) {
		size, isOurs = end, isOurs || isOfJournal(text)
		switch {
		case line == nil:
			return true
		case line.Event == account.JournalStart && line.Run != run:
			whole, starts, isOurs = 0, nil, true
			return false
		case line.Event == account.JournalStart:
			starts = append(starts, account.EarlierRun{Bulkcat: line.Bulkcat, Started: line.At, Ended: line.At, Ending: account.Killed, FinishBy: line.FinishBy})
		case len(starts) > 0:
			add(line, &starts[len(starts)-1])
		}
		whole = end
		return true
	})
	if err == nil && size > 0 && !isOurs {
		err = errForeign
	}
	return starts, whole, err
}

// ReadJournal calls use for each line of the journal at path, in order, except damaged lines. It does nothing if the file is
// missing, or is not the journal of the account's run; a may be nil, for any run.
func ReadJournal(path string, a *account.Account, use func(account.JournalLine)) error {
	return readIfThere(path, func(file io.Reader) error {
		return eachLine(file, func(_ []byte, line *account.JournalLine, _ int64) (more bool) {
			if line == nil {
				return true
			}
			if line.Event == account.JournalStart && a != nil && line.Run != a.RunID() {
				return false
			}
			use(*line)
			return true
		})
	})
}

// eachLine calls use for each line of a journal, with its text and the offset of its end, until use returns false. The line is
// nil if it is damaged, or has no newline because it was being written.
func eachLine(file io.Reader, use func(text []byte, line *account.JournalLine, end int64) (more bool)) error {
	lines := bufio.NewReaderSize(file, mostOfLine)
	for end := int64(0); ; {
		text, size, err := nextLine(lines)
		if err != nil && err != io.EOF {
			return err
		}
		end += size
		line := new(account.JournalLine)
		if err == io.EOF || json.Unmarshal(text, line) != nil {
			line = nil
		}
		if !use(text, line, end) || err == io.EOF {
			return nil
		}
	}
}

var errForeign = errors.New("it is no journal of bulkcat: move it elsewhere")

const (
	lineBegin  = `{"at":"` // of each line
	mostOfLine = 64 << 10  // bytes; a line of this program has less than a thousand
)

// isOfJournal reports whether text begins like a line of a journal, or with the zeros that a power failure leaves.
func isOfJournal(text []byte) bool {
	n := min(len(text), len(lineBegin))
	return n > 0 && (string(text[:n]) == lineBegin[:n] || text[0] == 0)
}

// nextLine returns the next line with its newline, and its size. The text is empty if the line is longer than mostOfLine. A last
// line without a newline comes with io.EOF.
func nextLine(lines *bufio.Reader) (text []byte, size int64, err error) {
	text, err = lines.ReadSlice('\n')
	for size = int64(len(text)); errors.Is(err, bufio.ErrBufferFull); {
		text = text[:0:0]
		var rest []byte
		rest, err = lines.ReadSlice('\n')
		size += int64(len(rest))
	}
	return text, size, err
}

// add sets the counts and the ending of a start to those of a line.
func add(l *account.JournalLine, start *account.EarlierRun) {
	start.Ended = l.At
	start.Counts = account.Snapshot{Counts: account.Counts[int64]{Requests: l.Requests, Retries: l.Retries, Shared: l.Shared, Rechecks: l.Rechecks, WithOutcome: l.WithOutcome}, Attempts: l.Outcomes}
	if l.Event == account.JournalEnd {
		start.Ending = l.Ending
	}
}

// Append appends a line, which is durable after the next Sync. After an error the journal has the lines before, and further
// lines can be appended.
func (j *Journal) Append(line account.JournalLine) error {
	n, err := j.write(line)
	if err != nil {
		return err
	}
	j.size += n
	return j.file.Truncate(j.size) // the rest of a longer line of Replace
}

// Replace writes a line after the appended lines, in place of the last line of Replace. The line survives the end of the
// process, but perhaps not a power failure.
func (j *Journal) Replace(line account.JournalLine) error {
	_, err := j.write(line)
	return err
}

func (j *Journal) write(line account.JournalLine) (size int64, err error) {
	text, err := json.Marshal(line)
	if err != nil {
		return 0, err
	}
	text = append(text, '\n')
	if _, err := j.file.WriteAt(text, j.size); err != nil {
		return 0, errors.Join(err, j.file.Truncate(j.size))
	}
	return int64(len(text)), nil
}

// Sync makes the lines durable.
func (j *Journal) Sync() error { return j.file.Sync() }

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

// Name is the path of the file.
func (j *Journal) Name() string { return j.file.Name() }
