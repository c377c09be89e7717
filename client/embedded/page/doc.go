// Package page fetches a web page and reads the parts that describe its site.
//
// A [Fetcher] fetches a page over http or https, through the proxy of the environment, within limits of time, size and
// redirects. It refuses addresses of the local network unless an option allows them. It follows robots.txt and sends each host
// one request at a time. A page that is not the site's own is an error.
//
// A [Page] has the parts of the HTML: the title, the description and keywords meant for search
// engines, the Open Graph parts meant for previews, the schema.org data, the headings, and the
// visible text. No scripts run.
//
// Terms:
//
//   - hop: one step of a redirect, by status or by a meta refresh.
//   - visit: the fetch of a page with all its hops.
//   - exchange: one request of a visit and its response.
//   - blocked address: an address that the public Internet does not route to.
//   - stand-in: a page in place of the site's own, for a parked domain, an error, or a challenge
//     that blocks programs.
//   - pause: a time without Internet, in which fetches fail at once. A long run then does not wait for each record.
//   - probe: a single fetch during a pause, which shows whether the Internet is back.
package page
