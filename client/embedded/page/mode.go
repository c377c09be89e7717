package page

import "fmt"

// Mode says whether pages are fetched. It is a flag value (Set, String, Type).
type Mode string

const (
	// Auto fetches, and pauses while the machine has no Internet: when three
	// names in a row do not resolve, nor do the root's name servers, or when
	// thirty sites in a row are silent. One fetch in five minutes then tries.
	Auto Mode = "auto"
	// Always fetches every page, however many fail.
	Always Mode = "always"
	// Never fetches nothing: every Fetch returns ErrNever.
	Never Mode = "never"
)

// Set takes the mode's name.
func (m *Mode) Set(name string) error {
	switch Mode(name) {
	case Auto, Always, Never:
		*m = Mode(name)
		return nil
	}
	return fmt.Errorf("%q is not a way to fetch: use %s, %s or %s", name, Auto, Always, Never)
}

// String returns the mode's name.
func (m *Mode) String() string { return string(*m) }

// Type names the values in a command's help.
func (m *Mode) Type() string { return "auto|always|never" }
