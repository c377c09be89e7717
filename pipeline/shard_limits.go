package pipeline

import (
	"context"
	"math"
	"strconv"

	"github.com/bulkcat/bulkcat/client"
)

// Shards that ask a service know nothing of each other, so each takes its part of the rate and of the quota. A
// gateway shares both between its clients, whatever each of these asks.

// shareLimits reduces the limits of a run to the shard's part, unless the service is a gateway. The bound of
// the requests of all shards holds with a gateway, too.
func (s *Session) shareLimits() {
	o, shards := &s.options, s.options.Shard.Count
	if o.Limits.MaxRequests > 0 && shards > 0 {
		o.Limits.MaxRequests = o.Shard.Part(o.Limits.MaxRequests)
	}
	usage := s.quota.lastUsage()
	switch limited := o.Limits.Rate > 0 && !math.IsInf(o.Limits.Rate, 1); {
	case shards < 2:
	case usage.Gateway:
		o.Log.Info("a gateway shares the rate and the quota between the shards", "shard", o.Shard.String())
	case o.Service.Hosted || limited:
		o.Limits.Rate /= float64(shards)
		o.Service.Rate /= float64(shards)
		o.Limits.Shards = shards
		if _, metered := usage.Requests(); metered && !o.Limits.KeepReserve {
			o.Limits.KeepReserve, o.Limits.Reserve = true, 0 // so that the run asks for the quota when its part is used
		}
		o.Log.Info("no gateway: the shard takes its part of the rate and of the quota", "shard", o.Shard.String(), "part", "1/"+strconv.Itoa(shards))
	}
}

// shareQuota makes the service tell the shard's part of the quota.
func (o *SessionOptions) shareQuota() {
	if usage := o.Service.Usage; usage != nil && o.Shard.Count > 1 {
		o.Service.Usage = func(ctx context.Context) (client.Usage, error) {
			all, err := usage(ctx)
			return o.shareOf(all), err
		}
	}
}

// shareOf is the part of the quota that a shard counts with: the reserve, which is for all shards, and an equal
// part of the rest. A shard that has used its part asks for the quota again, and then counts with a part of what
// is left, so that the shards together use the whole quota.
func (o *SessionOptions) shareOf(usage client.Usage) client.Usage {
	left, ok := usage.Requests()
	if !ok || usage.Gateway {
		return usage
	}
	reserve := min(left, max(0, o.Limits.Reserve))
	usage.Remaining = strconv.FormatInt(reserve+(left-reserve)/int64(o.Shard.Count), 10)
	return usage
}

// lastUsage is what the service told last.
func (q *quota) lastUsage() client.Usage {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.usage
}
