// The server sends the parts of the page that may have changed, by the id of their element.
"use strict";
const connection = document.getElementById("connection");
let last = new Date();
let ended = false;
const events = new EventSource("events");
events.onmessage = (event) => {
  last = new Date();
  connection.hidden = true;
  const message = JSON.parse(event.data);
  ended = message.ended;
  document.title = message.title;
  for (const [id, html] of Object.entries(message.parts)) {
    const part = document.getElementById(id);
    if (part.dataset.html !== html) {
      part.dataset.html = html;
      const at = [...part.querySelectorAll("[tabindex]")].indexOf(document.activeElement);
      part.innerHTML = html;
      if (at >= 0) part.querySelectorAll("[tabindex]")[at]?.focus();
    }
  }
};
// The browser connects again by itself, every few seconds.
events.onerror = () => {
  connection.hidden = false;
  connection.textContent = ended
    ? "The run has ended, and so has its server. The page goes on if the run is started again."
    : "Connection lost. The figures are those of " + last.toLocaleTimeString() + ". Connecting again ...";
};
