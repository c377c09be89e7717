// Package archive saves the answers of a store as JSON lines, brings them back, and counts them.
//
// An exported answer is a line such as
//
//	{"source":"https://api.example.com","kind":"website","classification":"taxonomy_v3",
//	 "input":"https://example.com","outcome":"answer","status":200,
//	 "answered_at":"2026-03-01T12:00:00.123456Z","body":{"taxonomy_v3":[...]}}
//
// without the line breaks. The body is the answer as the service sent it, or the reason of a
// rejection as a string. An answer that the service gave again has the time of the last as confirmed_at.
package archive
