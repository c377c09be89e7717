// Package browser tests the page and the report of a run in Chromium. It is a module of its own, because bulkcat needs no browser.
package browser
