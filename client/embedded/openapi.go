package embedded

import (
	_ "embed" // the description
	"strings"
)

// openAPIText is the description of the operations, with placeholders for the input parameters.
//
//go:embed openapi.json
var openAPIText string

// openAPI returns the description with the input parameters of this Service.
func (s *Service) openAPI() string {
	return strings.NewReplacer(
		`"WEBSITE_PARAM"`, string(marshal(s.opts.WebsiteParam)),
		`"PRODUCT_PARAM"`, string(marshal(s.opts.ProductParam)),
	).Replace(openAPIText)
}
