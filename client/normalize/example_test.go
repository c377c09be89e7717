package normalize_test

import (
	"fmt"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/normalize"
)

func ExampleNormalizer_Request() {
	for _, input := range []string{" Example.com/ ", "https://EXAMPLE.com:443", "localhost"} {
		request, err := normalize.Normalizer{}.Request(client.Website, input, client.NAICS)
		fmt.Println(request.Input, err)
	}
	// Output:
	// https://example.com <nil>
	// https://example.com <nil>
	//  not a website: a bare domain needs a dot: "localhost"
}
