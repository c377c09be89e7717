package pipeline

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"github.com/bulkcat/bulkcat/writer/regular"
)

// journal is the record of a run on disk while the run goes on: JSON lines in OUTPUT.run.journal. Each start of
// the run appends a line of its own, then the counts and the state at each change of state and once a second
// while the counts change, and its ending. These lines are synced. In between, an attempt of a hosted service that
// ends writes the last line again without a sync, if that line lacks more attempts than are in flight. The counts are
// those of the start so far, so the next line replaces a line that cannot be written.
//
// The requests of a start that was killed come from its last line. They differ from those that reached the service
// by at most the requests in flight: the line may lack as many, or count requests that did not reach the service.
// After a power failure the requests of a second and of one fsync may be missing as well.
type journal struct {
	file *os.File
	size int64 // bytes of whole lines
}

// journalLine is a line of a journal, without secrets.
type journalLine struct {
	At    time.Time    `json:"at"`
	Event journalEvent `json:"event"`

	// Of a start.
	Run     string `json:"run,omitempty"` // a digest of the settings: see Account.run
	Bulkcat string `json:"bulkcat,omitempty"`
	PID     int    `json:"pid,omitempty"`

	// Of counts and of an end.
	State    State     `json:"state,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	Records  int64     `json:"records,omitempty"` // with a status
	Requests int64     `json:"requests,omitempty"`
	Retries  int64     `json:"retries,omitempty"`
	Rechecks int64     `json:"rechecks,omitempty"`
	Outcomes Attempts  `json:"outcomes,omitempty"`
	Ending   Ending    `json:"ending,omitempty"`
}

type journalEvent string

const (
	journalStart  journalEvent = "start"
	journalCounts journalEvent = "counts"
	journalEnd    journalEvent = "end"
)

// openJournal opens the journal of a run and gives the earlier starts. What follows the last whole line is cut
// off. A journal of another run is emptied, and the error of a file that is no journal is errForeign.
func openJournal(path, run string) (*journal, []EarlierRun, error) {
	file, err := regular.OpenOwn(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, nil, err
	}
	j := &journal{file: file}
	starts, err := j.read(run)
	if err == nil {
		err = file.Truncate(j.size)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return j, starts, nil
}

// read reads the starts, and sets the size. A damaged line between whole lines is left out.
func (j *journal) read(run string) (starts []EarlierRun, err error) {
	lines, offset := bufio.NewReaderSize(j.file, mostOfLine), int64(0)
	isOurs := false
	for {
		text, size, err := nextLine(lines)
		if err == io.EOF {
			if !isOurs && offset+size > 0 && !isOfJournal(text) {
				return nil, errForeign
			}
			return starts, nil
		}
		if err != nil {
			return nil, err
		}
		offset += size
		isOurs = isOurs || isOfJournal(text)
		var line journalLine
		switch {
		case json.Unmarshal(text, &line) != nil:
			continue
		case line.Event == journalStart && line.Run != run:
			j.size = 0
			return nil, nil
		case line.Event == journalStart:
			starts = append(starts, EarlierRun{Bulkcat: line.Bulkcat, Started: line.At, Ended: line.At, Ending: Killed})
		case len(starts) > 0:
			line.addTo(&starts[len(starts)-1])
		}
		j.size = offset
	}
}

// errForeign is the error of a file at the path of a journal that is another file.
var errForeign = errors.New("it is no journal of bulkcat: move it elsewhere")

const (
	lineBegin  = `{"at":"` // of each line
	mostOfLine = 64 << 10  // bytes; a line of this program has less than a thousand
)

// isOfJournal reports whether a text is the beginning of a line of a journal, or the zeros that a loss of power leaves.
func isOfJournal(text []byte) bool {
	n := min(len(text), len(lineBegin))
	return n > 0 && (string(text[:n]) == lineBegin[:n] || text[0] == 0)
}

// nextLine returns the next line, with its end, and its size. The text of a longer line is cut off; that of the last line
// without an end comes with io.EOF.
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

// addTo brings a start up to date.
func (l *journalLine) addTo(start *EarlierRun) {
	start.Ended = l.At
	start.Counts = Snapshot{Requests: l.Requests, Retries: l.Retries, Rechecks: l.Rechecks, Attempts: l.Outcomes}
	if l.Event == journalEnd {
		start.Ending = l.Ending
	}
}

// append writes a line that stays, and is durable after the next sync. After an error the journal has the lines
// before, and further lines can be appended.
func (j *journal) append(line journalLine) error {
	n, err := j.write(line)
	if err != nil {
		return err
	}
	j.size += n
	return j.file.Truncate(j.size) // a longer line of write
}

// write writes a line after the lines that were appended, in place of an earlier line there, and gives the
// bytes. The line outlives the process, but perhaps not the machine.
func (j *journal) write(line journalLine) (int64, error) {
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

func (j *journal) sync() error  { return j.file.Sync() }
func (j *journal) close() error { return j.file.Close() }
