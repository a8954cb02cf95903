/** Slash commands, with what they do. */
export const COMMANDS: [string, string][] = [
  ["/help", "what can be typed here"],
  ["/status", "what Hob does"],
  ["/model", "another model for this conversation"],
  ["/mode", "how much Hob may do without asking"],
  ["/usage", "what was spent"],
  ["/compact", "sum up what was said"],
  ["/reset", "begin anew"],
  ["/undo", "take back the last turn"],
  ["/stop", "end what runs"],
];
