/** Slash commands, with what they do. */
export const COMMANDS: [string, string][] = [
  ["/help", "what can be typed here"],
  ["/status", "what Hob does"],
  ["/model", "another model for this conversation"],
  ["/permission", "how much Hob may do without asking"],
  ["/think", "how long the model thinks"],
  ["/fork", "go on in a copy of this conversation"],
  ["/remember", "keep something for good"],
  ["/memory", "what Hob remembers"],
  ["/usage", "what was spent"],
  ["/compact", "sum up what was said"],
  ["/reset", "begin anew"],
  ["/undo", "take back the last turn"],
  ["/stop", "end what runs"],
];
