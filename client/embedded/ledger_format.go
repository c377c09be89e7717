package embedded

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
)

// A ledger is a header and records, all of them lines of text. A record has the digest of a key
// in hexadecimal, the number of used answers in decimal, and a checksum of both. All records have
// the same length, so that a damaged record does not hide the next.
const (
	ledgerHeader = "bulkcat used quota, v1\n"
	recordFormat = "%s %019d "
	recordBody   = 2*len(digest{}) + 1 + 19 + 1
	recordSize   = recordBody + 8 + 1
)

var errNoLedger = errors.New("the file is not a ledger of used quota")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendRecords(b []byte, used map[digest]int64) []byte {
	for d, n := range used {
		start := len(b)
		b = fmt.Appendf(b, recordFormat, d, n)
		b = fmt.Appendf(b, "%08x\n", crc32.Checksum(b[start:], castagnoli))
	}
	return b
}

// readLedger reads the used quota by key, and counts and skips damaged records. It counts an
// incomplete header as one damaged record.
func readLedger(r io.Reader) (used map[digest]int64, damaged int, err error) {
	used = map[digest]int64{}
	header := make([]byte, len(ledgerHeader))
	n, err := io.ReadFull(r, header)
	switch torn := errors.Is(err, io.ErrUnexpectedEOF); {
	case err == io.EOF: // an empty file is a ledger without records
		return used, 0, nil
	case err != nil && !torn:
		return nil, 0, err
	case !bytes.Equal(header[:n], []byte(ledgerHeader)[:n]):
		return nil, 0, errNoLedger
	case torn:
		return used, 1, nil
	}
	record := make([]byte, recordSize)
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

func parseRecord(record []byte) (d digest, used int64, ok bool) {
	body, sum := record[:recordBody], record[recordBody:]
	if string(sum) != fmt.Sprintf("%08x\n", crc32.Checksum(body, castagnoli)) {
		return d, 0, false
	}
	text, number := body[:2*len(d)], body[2*len(d)+1:recordBody-1]
	if _, err := hex.Decode(d[:], text); err != nil {
		return d, 0, false
	}
	used, err := strconv.ParseInt(string(number), 10, 64)
	return d, used, err == nil && used >= 0
}
