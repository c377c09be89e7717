package weburl

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// hostProfile maps hosts as browsers do (UTS #46, non-transitional, hyphens anywhere), and also accepts
// underscores, which occur in real host names.
var hostProfile = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(), idna.StrictDomainName(false), idna.CheckHyphens(false))

// The most bytes of a name and of its labels (RFC 1035 §2.3.4, in text form).
const (
	MaxName  = 253
	MaxLabel = 63
)

// Host normalizes a host: a name is in lower case and punycode, without a dot at its end; an address has
// the usual form, an IPv6 address in brackets. A name whose last label is a number is an IPv4 address in
// one of its spellings (127.1, 0x7f000001), or an error.
func Host(host string) (string, error) {
	if strings.HasPrefix(host, "[") {
		addr, err := netip.ParseAddr(strings.TrimSuffix(host[1:], "]"))
		if err != nil || !addr.Is6() || addr.Zone() != "" || !strings.HasSuffix(host, "]") {
			return "", ErrHost
		}
		return "[" + addr.String() + "]", nil
	}
	name, err := url.PathUnescape(host)
	if err != nil || !utf8.ValidString(name) {
		return "", ErrHost
	}
	// The tables of x/net for Go before 1.27 are of Unicode 15.0, where a capital sharp s is ss.
	ascii, err := hostProfile.ToASCII(strings.ReplaceAll(name, "ẞ", "ß"))
	if err != nil {
		return "", ErrHost
	}
	ascii = strings.TrimSuffix(ascii, ".")
	if !isName(ascii) {
		return "", ErrHost
	}
	addr, isAddr, err := parseIPv4(ascii)
	if isAddr {
		return addr.String(), nil
	}
	return ascii, err
}

// isName reports whether DNS can hold a name.
func isName(name string) bool {
	if len(name) > MaxName || strings.ContainsFunc(name, notInName) {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > MaxLabel {
			return false
		}
	}
	return true
}

func notInName(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_')
}

// parseIPv4 parses a name that is an IPv4 address, in every spelling that a resolver accepts: 127.0.0.1,
// 127.1, 0x7f000001, 017700000001. ok is false if the last label is no number.
func parseIPv4(name string) (addr netip.Addr, ok bool, err error) {
	last := strings.Count(name, ".")
	if _, isNumber := number(name[strings.LastIndexByte(name, '.')+1:]); !isNumber {
		return netip.Addr{}, false, nil
	}
	if last > 3 {
		return netip.Addr{}, false, ErrNumber
	}
	var sum uint64
	for i, label := range strings.Split(name, ".") {
		// The last number fills the remaining bytes.
		bits := 8
		if i == last {
			bits = 8 * (4 - last)
		}
		n, isNumber := number(label)
		if !isNumber || n >= 1<<bits {
			return netip.Addr{}, false, ErrNumber
		}
		sum = sum<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true, nil
}

// number parses a label as C does: octal after 0, hexadecimal after 0x. A number that is too large, or
// octal with the digit 9, is larger than every address.
func number(label string) (n uint64, ok bool) {
	base, digits, alphabet := 10, label, "0123456789"
	switch {
	case strings.HasPrefix(label, "0x"):
		base, digits, alphabet = 16, label[2:], "0123456789abcdef"
		if digits == "" {
			return 0, true
		}
	case len(label) > 1 && label[0] == '0':
		base, digits = 8, label[1:]
	}
	if digits == "" || strings.Trim(digits, alphabet) != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return 1 << 63, true
	}
	return n, true
}
