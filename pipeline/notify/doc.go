// Package notify tells other programs how a run ends: a [Notifier] posts events to a webhook, and a
// [Command] runs with the facts of the ending in its environment.
//
// Terms: an *event* is one message about a run, an *occasion* is a kind of event, the *receiver* is the
// HTTP server that the events go to. The URL of a receiver is a secret, because most webhooks have no
// other: errors name the host alone.
package notify
