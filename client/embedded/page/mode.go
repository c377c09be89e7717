package page

import "fmt"

// Mode reports whether pages are fetched. It is a flag value (Set, String, Type).
type Mode string

const (
	// Auto fetches, and pauses while the machine seems to have no Internet: after three
	// consecutive failed lookups, if the root name servers do not resolve either, and after
	// thirty consecutive sites that do not respond. A probe every five minutes ends the pause.
	Auto Mode = "auto"
	// Always fetches every page and never pauses.
	Always Mode = "always"
	// Never fetches no page: every Fetch returns ErrNever.
	Never Mode = "never"
)

// Set takes the mode's name.
func (m *Mode) Set(name string) error {
	switch Mode(name) {
	case Auto, Always, Never:
		*m = Mode(name)
		return nil
	}
	return fmt.Errorf("%q is not a mode of fetching: use %s, %s or %s", name, Auto, Always, Never)
}

// String returns the mode's name.
func (m *Mode) String() string { return string(*m) }

// Type names the values in a command's help.
func (m *Mode) Type() string { return "auto|always|never" }
