// Package notify tells other programs about a run. A [Notifier] posts events to a webhook. A [Command] is executed when the run
// ends, with the facts in its environment.
//
// Terms: an *event* is one message about a run, an *occasion* is a kind of event, the *receiver* is the HTTP server that gets
// the events. The URL of a receiver is a secret, because most webhooks have no other secret. So errors name the host only.
package notify
