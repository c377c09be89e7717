package embedded

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A ledger is a header and records, all of them lines of text. A record has the digest of a key
// in hexadecimal, the number of used answers in decimal, the time of the last charge in Unix seconds, and a
// checksum of these. All records have the same length, so that a damaged record does not hide the next. Version 1 had no times.
const (
	ledgerHeader    = "bulkcat used quota, v2\n"
	ledgerHeaderOf1 = "bulkcat used quota, v1\n"

	recordFormat  = "%s %019d %019d "
	recordBodyOf1 = 2*len(digest{}) + 1 + 19 + 1
	recordBody    = recordBodyOf1 + 19 + 1
	sumSize       = 8 + 1
	recordSize    = recordBody + sumSize
)

var errNoLedger = errors.New("the file is not a ledger of used quota")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendRecords(b []byte, used map[digest]usage) []byte {
	for _, d := range slices.SortedFunc(maps.Keys(used), func(a, b digest) int { return bytes.Compare(a[:], b[:]) }) {
		n, start := used[d], len(b)
		b = fmt.Appendf(b, recordFormat, d, n.answers, n.last)
		b = fmt.Appendf(b, "%08x\n", crc32.Checksum(b[start:], castagnoli))
	}
	return b
}

// readLedger reads the used quota by key, and counts and skips damaged records. It counts an
// incomplete header as one damaged record.
func readLedger(r io.Reader) (used map[digest]usage, damaged int, err error) {
	used = map[digest]usage{}
	header := make([]byte, len(ledgerHeader))
	n, err := io.ReadFull(r, header)
	switch torn := errors.Is(err, io.ErrUnexpectedEOF); {
	case err == io.EOF: // an empty file is a ledger without records
		return used, 0, nil
	case err != nil && !torn:
		return nil, 0, err
	case !bytes.Equal(header[:n], []byte(ledgerHeader)[:n]) && !bytes.Equal(header[:n], []byte(ledgerHeaderOf1)[:n]):
		return nil, 0, errNoLedger
	case torn:
		return used, 1, nil
	}
	record := make([]byte, recordSize)
	if string(header) == ledgerHeaderOf1 {
		record = record[:recordBodyOf1+sumSize]
	}
	for {
		_, err := io.ReadFull(r, record)
		if err == io.EOF {
			return used, damaged, nil
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, 0, err
		}
		if d, n, ok := parseRecord(record); ok && err == nil {
			used[d] = n
		} else {
			damaged++
		}
		if err != nil {
			return used, damaged, nil
		}
	}
}

func parseRecord(record []byte) (d digest, used usage, ok bool) {
	body, sum := record[:len(record)-sumSize], record[len(record)-sumSize:]
	if string(sum) != fmt.Sprintf("%08x\n", crc32.Checksum(body, castagnoli)) {
		return d, used, false
	}
	fields := strings.Fields(string(body))
	if len(fields) < 2 || len(fields) > 3 || len(fields[0]) != 2*len(d) {
		return d, used, false
	}
	for i, to := range []*int64{&used.answers, &used.last}[:len(fields)-1] {
		n, err := strconv.ParseInt(fields[i+1], 10, 64)
		if err != nil || n < 0 {
			return d, used, false
		}
		*to = n
	}
	_, err := hex.Decode(d[:], []byte(fields[0]))
	return d, used, err == nil
}
