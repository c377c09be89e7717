// Package wire names the headers with which a gateway tells its clients where answers come from.
package wire

// GatewayHeader is the header that only a gateway sends, with every answer.
const GatewayHeader = "X-Bulkcat-Gateway"

// CacheHeader is the header in which a gateway states the origin of an answer.
const CacheHeader = "X-Cache"

// The values of CacheHeader. Only a miss costs a request.
const (
	CacheHit  = "hit"  // the gateway had stored the answer
	CacheJoin = "join" // an equal request was in flight
	CacheMiss = "miss"
)
