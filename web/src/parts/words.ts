import { t } from "../i18n";

/** Codes of states, faults and outcomes in words, as the commands have them. */
export const WORDS: Record<string, string> = {
  created: "begun",
  pending: "waiting",
  parked: "waiting",
  set_aside: "quarantined",
  dead: "given up",
  cancelled: "stopped",
  auth: "its key was refused",
  billing: "its account has no credit",
  rate_limit: "its rate limit was reached",
  overload: "its server is overloaded",
  network: "its server cannot be reached",
  timeout: "its server did not answer in time",
  model_not_found: "its server does not know it",
  context_overflow: "too long for the model",
  bad_request: "the model's server refused the request",
  garbage: "the model's answer was unreadable",
  cut_stream: "the model's answer broke off",
  empty_answer: "the model gave no answer",
  filtered: "the model's provider blocked it",
  no_model: "no model is connected",
  model_settings: "the model's settings are wrong",
  budget: "the budget does not allow it",
  unknown_tool: "there is no such tool",
  not_loaded: "the model has not loaded this tool yet",
  bad_arguments: "the model's arguments do not fit the tool",
  loop: "refused: the same call again and again",
  unknown_outcome: "Hob was stopped during it, so its outcome is unknown",
};

/** A code in the reader's words; one that has none as it is. */
export const wordOf = (code: string) => t(WORDS[code] ?? code);

/** Kinds and outcomes of entries of the audit log, and who was asked for. */
const AUDIT: Record<string, string> = {
  authentication: "login",
  rate: "rate limit",
  scan: "check of texts",
  audit: "audit log",
  allow: "allowed",
  ask: "needs your approval",
  deny: "refused",
  denied: "refused",
  granted: "approved",
  open: "waiting",
  void: "no longer valid",
  wrong: "wrong key",
  too_often: "too often",
  turned_away: "turned away",
  block: "blocked",
};
export const auditWord = (code: string) => t(AUDIT[code] ?? code.replaceAll("_", " "));

/** What a turn does at an event about it. */
const TURN: Record<string, string> = {
  ready: "ready to continue",
  running: "runs",
  parked: "waits",
  done: "finished",
  silent: "finished without an answer",
};
export const turnWord = (code: string) => (TURN[code] ? t(TURN[code]) : wordOf(code));

/** What calls of a tool may do to the world. */
const EFFECTS: Record<string, string> = {
  reads_private: "read what is yours",
  reads_untrusted: "read what others wrote",
  writes: "change files so that it can be undone",
  writes_finally: "change things for good",
  communicates: "reach other computers or people",
  persists: "leave something for later turns",
  executes: "run programs",
};
export const effectWord = (code: string) => t(EFFECTS[code] ?? code);

/** Titles of groups of settings; a plug-in's has its name. */
const GROUPS: Record<string, string> = {
  model: "Models",
  prompt_guard: "What models elsewhere are sent",
  sanitizer: "Cleaning of answers",
  classifier: "Choice of the model",
  agent: "Turns",
  spending: "Limits of spending",
  workspace: "Your folder",
  gateway: "HTTP API",
  bus: "Queues",
  store: "Database",
  policy: "What Hob may do",
  approvals: "Approvals",
  admission: "Who may talk to Hob",
  scanner: "Content scanner",
  memory: "Memory",
  er1: "ER1",
  knowledge: "Search in documents",
  sandbox: "Sandbox",
  web: "Web search",
  mcp: "MCP servers",
  subagents: "Sub-agents",
  browser: "Browser",
  delivery: "Delivery",
  logs: "Log",
  backups: "Backups",
  retention: "How long records are kept",
  webhooks: "Incoming webhooks",
  webhooks_out: "Outgoing webhooks",
  security: "Security audit",
  dashboard: "Dashboard",
};
export const groupWord = (code: string) => t(GROUPS[code] ?? code);

/** Titles of Hob's own channels; another has its name. */
const CHANNELS: Record<string, string> = {
  hob: "Between conversations",
  report: "Results of background work",
  webhook: "Incoming webhooks",
  webhook_out: "Outgoing webhooks",
};
export const channelWord = (code: string) => t(CHANNELS[code] ?? code);

/** What a model was asked for beside the turns, by the task. */
const PURPOSES: Record<string, string> = {
  summary: "Hob wrote a summary",
  facts: "Hob looked for facts to remember",
  observer: "Hob noted what was said",
  reflector: "Hob condensed its notes",
  consolidation: "Hob summed up what was said",
  rewriting: "Hob looked for other search words",
  reranking: "Hob ordered search results",
  sampling: "Hob answered an MCP server",
  vision: "Hob described a picture",
  test: "Hob tried the model",
  replay: "Hob replayed a turn",
};
/** What a call of a model was for, which tells "owner/summary"; nothing for one of a turn. */
export const purposeWord = (classification: string) => t(PURPOSES[classification.split("/")[1] ?? ""] ?? "");
