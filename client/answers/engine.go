package answers

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
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

// openConn opens a connection.
func openConn(uri string, flags sqlite3.OpenFlag) (*conn, error) {
	c, err := sqlite3.OpenFlags(uri, flags|sqlite3.OPEN_URI)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, statements: make(map[string]*sqlite3.Stmt)}, c.BusyTimeout(mostBusy) // which never fails
}

// connect opens an existing database.
func (o *Options) connect() (*conn, error) {
	if err := inspect(o.Path); err != nil {
		return nil, err
	}
	if err := o.checkPlace(); err != nil {
		return nil, err
	}
	c, err := openConn(o.uri(), sqlite3.OPEN_READWRITE)
	if o.ReadOnly && (err != nil || c.isReadOnly()) {
		if err == nil {
			_ = c.close() // nothing was written
		}
		// The folder is read-only for this user. If there is a journal, a process of another user may be writing.
		if c, err = openConn(o.uri()+"&immutable=1", sqlite3.OPEN_READONLY); err == nil && o.hasJournal() {
			err = errors.Join(errors.New("the folder is read-only, and another process may be writing"), c.close())
		}
	}
	if err != nil {
		return nil, err
	}
	if err := o.prepare(c); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// prepare sets up a connection. The error is of the kind Missing if the database has no tables: the process that was making the store
// was killed, and the engine has rolled back its transaction.
func (o *Options) prepare(c *conn) error {
	locking, journal := "NORMAL", "WAL"
	if o.Exclusive {
		locking, journal = "EXCLUSIVE", "DELETE"
	}
	err := c.Exec(fmt.Sprintf(`PRAGMA locking_mode = %s; PRAGMA synchronous = FULL; PRAGMA cache_size = -%d; PRAGMA secure_delete = ON;
		PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864; PRAGMA query_only = %t`, locking, cacheKiB, o.ReadOnly))
	if err != nil {
		return err
	}
	made, err := c.any("SELECT 1 FROM sqlite_schema LIMIT 1")
	switch {
	case err != nil:
		return err
	case !made:
		return &Error{o.Path, Missing, nil}
	case o.ReadOnly:
		return nil
	}
	return c.setJournal(journal)
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

func (c *conn) isReadOnly() bool {
	readOnly, _ := c.ReadOnly("main")
	return readOnly
}

func (o *Options) hasJournal() bool {
	info, err := os.Stat(Files(o.Path)[1])
	return err == nil && info.Size() > 0
}

// uri is the address of the database for the engine.
func (o *Options) uri() string {
	query := url.Values{"vfs": {cmp.Or(o.vfs, diskName)}, "modeof": {o.Path}}.Encode()
	query = strings.ReplaceAll(query, "+", "%20") // the engine does not decode + as a space
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(o.Path)}).EscapedPath(), RawQuery: query}
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

// create makes the folder, with access for the user only, and an empty store.
func (o *Options) create() error {
	if err := o.checkPlace(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return err
	}
	return o.makeFile()
}

// makeFile makes a file, with access for the user only, and an empty store in it, unless another process has done so. It is one
// transaction: a kill leaves the file empty.
func (o *Options) makeFile() (err error) {
	f, err := os.OpenFile(o.Path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	c, err := openConn(o.uri(), sqlite3.OPEN_READWRITE)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
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
