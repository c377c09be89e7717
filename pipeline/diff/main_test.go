package diff

import (
	"testing"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

func TestMain(m *testing.M) { clienttest.Main(m) }
