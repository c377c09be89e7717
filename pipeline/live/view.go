package live

import (
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// View is the content of the page. Its figures and tables are those of Run or Service, in run.html and service.html.
type View struct {
	Title   string // of the page, such as the output of a run
	State   string // what happens, in words
	Since   time.Time
	Ended   bool // nothing changes any more
	Trouble bool // the state needs attention
	Charts  []figures.Chart

	Run     *account.Status // nil for a service, and before the run begins
	Service *reading        // nil for a run
	Started time.Time       // of the service
}
