package answers

import (
	"cmp"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
)

//go:embed schema.sql
var schema string

const (
	pageSize      = 4096
	checksumBytes = 8          // at the end of each page
	applicationID = 0x62636174 // "bcat"
	version       = 1          // of the schema

	// mostBusy is the longest wait for another process that writes: longer than VACUUM of a large store.
	mostBusy = 15 * time.Minute

	// cacheKiB is the page cache of each connection. A larger cache gains little: most lookups read a page that no other lookup
	// reads.
	cacheKiB = 8 << 10
)

// conn is a connection to the database, with its prepared statements.
type conn struct {
	*sqlite3.Conn
	statements map[string]*sqlite3.Stmt
	next       time.Time // when the next transaction may begin: see turn
}

// connect opens an existing database.
func (o *Options) connect() (_ *conn, err error) {
	if err := inspect(o.Path); err != nil {
		return nil, err
	}
	if err := o.checkPlace(); err != nil {
		return nil, err
	}
	address := uri(o.Path, o.vfs)
	c, err := sqlite3.OpenFlags(address, sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	if o.ReadOnly && err != nil || c != nil && o.ReadOnly && isReadOnly(c) {
		_ = c.Close() // nothing was written
		// The folder is read-only for this user. If there is a journal, a process of another user may be writing.
		if c, err = sqlite3.OpenFlags(address+"&immutable=1", sqlite3.OPEN_READONLY|sqlite3.OPEN_URI); err == nil && o.hasJournal() {
			err = errors.Join(errors.New("the folder is read-only, and another process may be writing"), c.Close())
		}
	}
	if err != nil {
		return nil, err
	}
	locking, journal := "NORMAL", "WAL"
	if o.Exclusive {
		locking, journal = "EXCLUSIVE", "DELETE"
	}
	settings := fmt.Sprintf(`PRAGMA locking_mode = %s; SELECT 1 FROM sqlite_schema LIMIT 1; PRAGMA synchronous = FULL; PRAGMA cache_size = -%d; PRAGMA secure_delete = ON;
		PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;`, locking, cacheKiB)
	if o.ReadOnly {
		settings += "PRAGMA query_only = ON;"
	}
	if err = c.BusyTimeout(mostBusy); err == nil {
		err = c.Exec(settings)
	}
	opened := &conn{Conn: c, statements: make(map[string]*sqlite3.Stmt)}
	if err == nil {
		made, queryErr := opened.any("SELECT 1 FROM sqlite_schema LIMIT 1")
		if err = queryErr; err == nil && !made { // the process that was making the store was killed, and its transaction is rolled back
			err = &MissingError{Path: o.Path}
		}
	}
	if err == nil && !o.ReadOnly {
		err = opened.setJournal(journal)
	}
	if err != nil {
		return nil, errors.Join(err, opened.close())
	}
	return opened, nil
}

// setJournal sets the journal mode of the database, if it differs: a change needs exclusive access.
func (c *conn) setJournal(mode string) error {
	var old string
	err := c.query("PRAGMA journal_mode", func(row *sqlite3.Stmt) error { old = row.ColumnText(0); return nil })
	if err != nil || strings.EqualFold(old, mode) {
		return err
	}
	return waitFree(func() error { return c.Exec("PRAGMA journal_mode = " + mode) })
}

// waitFree repeats a call of the engine while another process holds a lock, for the locks for which the engine does not wait: of
// processes that make or open the store, or empty the journal.
func waitFree(call func() error) error {
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if err := call(); !errors.Is(err, sqlite3.BUSY) || time.Since(start) > mostBusy {
			return err
		}
	}
}

func isReadOnly(c *sqlite3.Conn) bool {
	readOnly, _ := c.ReadOnly("main")
	return readOnly
}

func (o *Options) hasJournal() bool {
	info, err := os.Stat(Files(o.Path)[1])
	return err == nil && info.Size() > 0
}

// uri is the address of a database for the engine.
func uri(path, vfs string) string {
	query := url.Values{"vfs": {cmp.Or(vfs, diskName)}, "modeof": {path}}.Encode()
	query = strings.ReplaceAll(query, "+", "%20") // the engine does not decode + as a space
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: query}
	return u.String()
}

// prepared returns the prepared statement for sql, and prepares it at the first call.
func (c *conn) prepared(sql string) (*sqlite3.Stmt, error) {
	if s, ok := c.statements[sql]; ok {
		return s, nil
	}
	s, _, err := c.PrepareFlags(sql, sqlite3.PREPARE_PERSISTENT)
	if err == nil {
		c.statements[sql] = s
	}
	return s, err
}

// query runs a statement, and calls each, if not nil, for every row.
func (c *conn) query(sql string, each func(*sqlite3.Stmt) error, values ...any) (err error) {
	s, err := c.prepared(sql)
	if err != nil {
		return err
	}
	defer func() {
		if resetErr := s.Reset(); err == nil {
			err = resetErr
		}
	}()
	for i, v := range values {
		if err := bind(s, i+1, v); err != nil {
			return err
		}
	}
	for s.Step() {
		if each == nil {
			continue
		}
		if err := each(s); err != nil {
			return err
		}
	}
	return s.Err()
}

// any reports whether a statement returns a row.
func (c *conn) any(sql string, values ...any) (found bool, err error) {
	err = c.query(sql, func(*sqlite3.Stmt) error { found = true; return nil }, values...)
	return found, err
}

func bind(s *sqlite3.Stmt, i int, v any) error {
	switch v := v.(type) {
	case string:
		return s.BindText(i, v)
	case []byte:
		if v == nil { // nil would be NULL
			v = []byte{}
		}
		return s.BindRawText(i, v)
	case int64:
		return s.BindInt64(i, v)
	}
	panic(fmt.Sprintf("a value of type %T", v))
}

// A process that waits for the lock of the store tries again at intervals of up to 2 ms. A busy process would hold the lock
// again before that, for seconds. So if a process had to wait for the lock, others wait too, and it pauses for a turn after its
// transaction.
const (
	turn    = 3 * time.Millisecond
	noQueue = time.Millisecond // a longer wait for the lock shows that others want it
)

// transaction runs begin, work and COMMIT, or ROLLBACK after an error.
func (c *conn) transaction(begin string, work func() error) error {
	time.Sleep(time.Until(c.next))
	start := time.Now()
	err := c.query(begin, nil)
	if err != nil {
		return err
	}
	if time.Since(start) > noQueue {
		defer func() { c.next = time.Now().Add(turn) }()
	}
	if err = work(); err == nil {
		err = c.query("COMMIT", nil)
	}
	if err != nil && !c.GetAutocommit() {
		_ = c.Exec("ROLLBACK") // err is the first error
	}
	return err
}

func (c *conn) close() error {
	for _, s := range c.statements {
		_ = s.Close() // repeats the error of the last step
	}
	return c.Conn.Close()
}

// create makes the folder and the file, with access for the user only, and an empty store in the file.
func (o *Options) create() error {
	if err := o.checkPlace(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(o.Path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), build(uri(o.Path, o.vfs)))
}

// build makes an empty store in an empty file, unless another process has done so. It is one transaction: a kill leaves the
// file empty.
func build(uri string) (err error) {
	opened, err := sqlite3.Open(uri)
	if err != nil {
		return err
	}
	c := &conn{Conn: opened, statements: make(map[string]*sqlite3.Stmt)}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.BusyTimeout(mostBusy); err != nil {
		return err
	}
	if _, err := c.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES, checksumBytes); err != nil {
		return err
	}
	if err := c.Exec(fmt.Sprintf("PRAGMA page_size = %d; PRAGMA synchronous = FULL", pageSize)); err != nil {
		return err
	}
	return c.transaction("BEGIN IMMEDIATE", func() error {
		made, err := c.any("SELECT 1 FROM sqlite_schema LIMIT 1")
		if err != nil || made {
			return err
		}
		return c.Exec(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", applicationID, version) + schema)
	})
}

// Bytes of the first page: https://sqlite.org/fileformat.html#the_database_header.
const (
	magic         = "SQLite format 3\x00"
	application   = "bcat"
	headerBytes   = 100
	pageSizeAt    = 16
	reservedAt    = 20
	versionAt     = 60
	applicationAt = 68
)

// inspect reads the header of a file. The error is a *MissingError, a *ForeignError, a *DamageError or a *FailedError. A header
// with a few wrong bits counts as a damaged store.
func inspect(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return &MissingError{Path: path}
	}
	if err != nil {
		return &FailedError{Path: path, Err: err}
	}
	if !info.Mode().IsRegular() {
		return &ForeignError{Path: path}
	}
	f, err := os.Open(path)
	if err != nil {
		return &FailedError{Path: path, Err: err}
	}
	defer f.Close() // only read from
	header := make([]byte, headerBytes)
	n, err := io.ReadFull(f, header)
	if err != nil && n == 0 || n < applicationAt+4 {
		return &ForeignError{Path: path}
	}
	if v := binary.BigEndian.Uint32(header[versionAt:]); v > version && v <= 0xff && string(header[applicationAt:applicationAt+4]) == application {
		return &ForeignError{Path: path, Newer: true}
	}
	wrong := 0
	for _, field := range []struct {
		at   int
		want string
	}{
		{0, magic},
		{pageSizeAt, string([]byte{pageSize >> 8, pageSize & 0xff})},
		{reservedAt, string([]byte{checksumBytes})},
		{versionAt, "\x00\x00\x00\x01"},
		{applicationAt, application},
	} {
		for i := range field.want {
			wrong += bits.OnesCount8(header[field.at+i] ^ field.want[i])
		}
	}
	switch {
	case wrong == 0:
		return nil
	case wrong > 8:
		return &ForeignError{Path: path}
	}
	return &DamageError{Path: path, Err: errors.New("the first page is wrong")}
}

// Check returns nil if path is a store, even a damaged store, or if a store can be made there. The error is a *ForeignError or a
// *FailedError.
func Check(path string) error {
	err := inspect(path)
	_, missing := errors.AsType[*MissingError](err)
	if _, damaged := errors.AsType[*DamageError](err); missing || damaged {
		return nil
	}
	return err
}

// IsStore reports whether a file is a store, even a damaged store.
func IsStore(path string) bool {
	err := inspect(path)
	_, damaged := errors.AsType[*DamageError](err)
	return err == nil || damaged
}

// Files returns the paths of the files of a store: the database, its WAL, its shared memory and its rollback journal. It
// resolves symbolic links.
func Files(path string) []string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return []string{path, path + "-wal", path + "-shm", path + "-journal"}
}
