package page

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// localNames are the suffixes of names that the public Internet does not have (RFC 6761, 6762 and
// 8375, and ICANN for internal). The guard checks addresses; a proxy resolves the name itself, so
// the name must be checked.
var localNames = []string{".localhost", ".local", ".internal", ".home.arpa"}

// checkURL returns an error for a URL that is no web address. It also refuses a blocked address
// in the URL, which the guard does not see if a proxy connects.
func (f *Fetcher) checkURL(u *url.URL) error {
	fail := func(reason Reason, why string) error {
		return &Error{URL: redact(u), Reason: reason, Err: errors.New(why)}
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fail(BadURL, "not an http or https URL with a host")
	}
	host, err := idna.Lookup.ToASCII(strings.TrimSuffix(u.Hostname(), "."))
	if err != nil {
		host = strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) // underscores, colons of IPv6
	}
	addr, isAddr, err := spelledOut(host)
	switch {
	case err != nil:
		return fail(BadURL, err.Error())
	case f.opts.AllowPrivate:
		return nil
	case isAddr && isBlocked(addr):
		return fail(Blocked, fmt.Sprintf("%s is not a public address", addr))
	case !isAddr && isLocal(host):
		return fail(Blocked, fmt.Sprintf("%q is a name of the local network", host))
	}
	return nil
}

// isLocal reports whether a lower-case name is of the local network. All names of the public
// Internet's sites have a dot.
func isLocal(name string) bool {
	for _, suffix := range localNames {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return !strings.Contains(name, ".")
}

var errNumber = errors.New("its host ends in a number but is no address")

// spelledOut parses a host that is an address, in every spelling that a resolver accepts:
// 127.0.0.1, ::1, 127.1, 0x7f000001, 017700000001. As in the URL standard of the WHATWG, a host
// whose last label is a number is an address or an error.
func spelledOut(host string) (addr netip.Addr, ok bool, err error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr, true, nil
	}
	labels := strings.Split(host, ".")
	last := len(labels) - 1
	if _, isNumber := number(labels[last]); !isNumber {
		return netip.Addr{}, false, nil
	}
	if last > 3 {
		return netip.Addr{}, false, errNumber
	}
	var sum uint64
	for i, label := range labels {
		// The last number fills the remaining bytes.
		bits := 8
		if i == last {
			bits = 8 * (4 - last)
		}
		n, isNumber := number(label)
		if !isNumber || n >= 1<<bits {
			return netip.Addr{}, false, errNumber
		}
		sum = sum<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true, nil
}

// number parses a label as C does: octal after 0, hexadecimal after 0x. A number of more than 64
// bits is larger than every address.
func number(label string) (uint64, bool) {
	base, digits := 10, label
	switch {
	case len(label) > 1 && label[0] == '0' && label[1]|0x20 == 'x':
		base, digits = 16, label[2:]
		if digits == "" {
			return 0, true
		}
	case len(label) > 1 && label[0] == '0':
		base, digits = 8, label[1:]
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err == nil {
		return n, true
	}
	decimal := label != "" && strings.Trim(label, "0123456789") == ""
	return 1 << 63, errors.Is(err, strconv.ErrRange) || decimal
}
