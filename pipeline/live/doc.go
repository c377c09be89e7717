// Package live serves a page, metrics and a status over HTTP while a run or a service goes on.
//
//	/             the page: HTML, which updates itself
//	/events       the changing parts of the page, each second, as server-sent events
//	/status.json  the status, for programs
//	/metrics      the same figures for Prometheus
//	/healthz      200 while the process responds
//
// A [Source] gives a [View]. The server renders it with the templates of page.html, and its figures and tables with those of
// run.html or service.html. Package figures draws the charts as SVG, so the page needs no library in the browser: a script of a
// few lines replaces the parts that have changed. The browser connects again after a lost connection, so the page also survives
// a restart of the run at the same address. The page loads nothing from elsewhere, and its Content-Security-Policy forbids that.
//
// [Run] is the source of a run, and [Service] that of a service or a gateway. They measure nothing themselves: all
// figures are those of pipeline.Session.Status, or the metrics of the service. A history keeps a bounded number of
// earlier figures for the charts, and how long the run has waited in each state until then.
package live
