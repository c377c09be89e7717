// Package live serves a page, metrics and a status of a run or a service over HTTP.
//
//	/             the page: HTML, which updates itself
//	/events       the changing parts of the page, each second, as server-sent events
//	/status.json  the status, for programs
//	/metrics      the same figures for Prometheus
//	/healthz      200 while the process responds
//
// The server renders the [View] of a [Source] with the templates of page.html, and its figures and tables with the templates of
// run.html or service.html. Package figures draws the charts as SVG, so the page needs no library in the browser: a script of a
// few lines replaces the parts that have changed. The browser connects again after a lost connection, so the page also survives
// a restart of the run at the same address. The Content-Security-Policy of the page allows nothing from other servers.
//
// [Run] is the source of a run, and [Service] is the source of a service or a gateway. All figures come from
// pipeline.Session.Status, or from the metrics of the service. A history keeps a bounded number of samples for the charts.
package live
