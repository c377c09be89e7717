package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"
)

// metricsOf has the metrics of a source, with the names that they have for Prometheus; nil if there are none.
func (e *Exporter) metricsOf(source prometheus.Gatherer) proto.Message {
	families, err := source.Gather()
	if err != nil { // the others are gathered
		e.log.Debug("some metrics cannot be gathered", "error", err)
	}
	if len(families) == 0 {
		return nil
	}
	at := span{uint64(e.started.UnixNano()), uint64(time.Now().UnixNano())}
	scope := &metricspb.ScopeMetrics{Scope: e.scope}
	for _, f := range families {
		scope.Metrics = append(scope.Metrics, at.metric(f))
	}
	return &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{{
		Resource: e.resource, ScopeMetrics: []*metricspb.ScopeMetrics{scope},
	}}}
}

// span is the time of metrics in Unix nanoseconds: counters begin at the start.
type span struct{ start, now uint64 }

// metric is a metric with a point for each combination of its labels.
func (at span) metric(f *dto.MetricFamily) *metricspb.Metric {
	m := &metricspb.Metric{Name: f.GetName(), Description: f.GetHelp()}
	const cumulative = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	switch f.GetType() {
	case dto.MetricType_COUNTER:
		sum := &metricspb.Sum{AggregationTemporality: cumulative, IsMonotonic: true}
		for _, p := range f.GetMetric() {
			sum.DataPoints = append(sum.DataPoints, at.number(p, p.GetCounter().GetValue()))
		}
		m.Data = &metricspb.Metric_Sum{Sum: sum}
	case dto.MetricType_HISTOGRAM:
		histogram := &metricspb.Histogram{AggregationTemporality: cumulative}
		for _, p := range f.GetMetric() {
			histogram.DataPoints = append(histogram.DataPoints, at.histogram(p))
		}
		m.Data = &metricspb.Metric_Histogram{Histogram: histogram}
	case dto.MetricType_SUMMARY:
		summary := new(metricspb.Summary)
		for _, p := range f.GetMetric() {
			summary.DataPoints = append(summary.DataPoints, at.summary(p))
		}
		m.Data = &metricspb.Metric_Summary{Summary: summary}
	default:
		gauge := new(metricspb.Gauge)
		for _, p := range f.GetMetric() {
			gauge.DataPoints = append(gauge.DataPoints, at.number(p, p.GetGauge().GetValue()+p.GetUntyped().GetValue())) // one of the two is 0
		}
		m.Data = &metricspb.Metric_Gauge{Gauge: gauge}
	}
	return m
}

func (at span) number(m *dto.Metric, value float64) *metricspb.NumberDataPoint {
	return &metricspb.NumberDataPoint{
		Attributes: labels(m), StartTimeUnixNano: at.start, TimeUnixNano: at.now,
		Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: value},
	}
}

// histogram has the number of each bucket, where Prometheus has that of all buckets up to it. The last has no bound.
func (at span) histogram(m *dto.Metric) *metricspb.HistogramDataPoint {
	h := m.GetHistogram()
	sum, before := h.GetSampleSum(), uint64(0)
	p := &metricspb.HistogramDataPoint{Attributes: labels(m), StartTimeUnixNano: at.start, TimeUnixNano: at.now, Count: h.GetSampleCount(), Sum: &sum}
	for _, b := range h.GetBucket() {
		p.ExplicitBounds = append(p.ExplicitBounds, b.GetUpperBound())
		p.BucketCounts = append(p.BucketCounts, b.GetCumulativeCount()-before)
		before = b.GetCumulativeCount()
	}
	p.BucketCounts = append(p.BucketCounts, p.Count-before)
	return p
}

func (at span) summary(m *dto.Metric) *metricspb.SummaryDataPoint {
	s := m.GetSummary()
	p := &metricspb.SummaryDataPoint{Attributes: labels(m), StartTimeUnixNano: at.start, TimeUnixNano: at.now, Count: s.GetSampleCount(), Sum: s.GetSampleSum()}
	for _, q := range s.GetQuantile() {
		p.QuantileValues = append(p.QuantileValues, &metricspb.SummaryDataPoint_ValueAtQuantile{Quantile: q.GetQuantile(), Value: q.GetValue()})
	}
	return p
}

func labels(m *dto.Metric) (list []Attribute) {
	for _, l := range m.GetLabel() {
		list = append(list, String(l.GetName(), l.GetValue()))
	}
	return list
}
