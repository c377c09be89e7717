// Package page fetches one web page and reads it into the parts that say what
// the site is about.
//
// A [Fetcher] gets a page: over http or https, through the proxy of the
// environment, within limits of time, size and redirects, and never from an
// address of the local network unless told so. It keeps to robots.txt, and asks
// each host one thing at a time. A page that stands where the site's own should
// is an error that says so.
//
// [Read] reads HTML into a [Page]: the title, the description and keywords meant
// for search engines, the Open Graph parts meant for previews, what is said in
// the words of schema.org, the headings, and the text a visitor reads. Neither
// runs scripts.
//
// Terms: a hop is one step of a redirect, whether by status or by a meta
// refresh. A visit is a page with all its hops; an exchange is one request of it
// and its response. A turn is the right to an exchange with a host. A blocked
// address is one the public Internet does not route to. A stand-in is a page in
// the place of the site's own: for a domain that is parked, an error, or a
// challenge that lets people in and programs not. A Fetcher pauses when the
// machine turns out to have no Internet, so that a long run does not wait for
// every record in turn; a probe is the single fetch let through a pause to find
// out whether it is over.
package page
