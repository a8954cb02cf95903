import { moment, t } from "../i18n";

/** Words for codes of states, faults and outcomes, as in the command line. */
export const WORDS: Record<string, string> = {
  created: "begun",
  pending: "waiting",
  parked: "waiting",
  set_aside: "quarantined",
  dead: "given up",
  cancelled: "stopped",
  auth: "the model's key was refused",
  billing: "the model's account has no credit",
  rate_limit: "the model's rate limit was reached",
  overload: "the model's server is overloaded",
  network: "the model's server cannot be reached",
  timeout: "the model's server did not answer in time",
  model_not_found: "the server does not know this model",
  context_overflow: "too long for the model",
  bad_request: "the model's server refused the request",
  garbage: "the model's answer was unreadable",
  cut_stream: "the model's answer broke off",
  empty_answer: "the model gave no answer",
  filtered: "the model's provider blocked it",
  no_model: "no model is connected",
  model_settings: "the model's settings are wrong",
  budget: "the budget does not allow it",
  spawn_accepted: "accepted",
  steer: "redirected",
  kill: "stopped",
  killed: "stopped",
  child: "waits for sub-agents",
  unknown_tool: "there is no such tool",
  not_loaded: "the model has not loaded this tool yet",
  bad_arguments: "the model's arguments do not fit the tool",
  loop: "refused: the same call again and again",
  unknown_outcome: "Hob was stopped during it, so its outcome is unknown",
};

/** The words for a code, else the code itself. */
export const wordOf = (code: string) => t(WORDS[code] ?? code);

/** The words for how a question for approval ended, or that it was asked. Only the owner answers. */
const APPROVAL: Record<string, string> = { allowed: "approved by you", used: "approved by you", denied: "denied by you" };
export const approvalWord = (state: string) => t(APPROVAL[state] ?? state);

/** How an approval ended and when; empty while it is open. An approval that expired unused was approved before. */
export function endedWord(approval: { state: string; answered: number | null; expires: number }): string {
  if (approval.state === "open") return "";
  const state = approval.state === "expired" && approval.answered !== null ? "allowed" : approval.state;
  return `${approvalWord(state)}, ${moment(approval.answered ?? approval.expires)}`;
}

/** The words for how the sending of a message ended. */
const DELIVERY: Record<string, string> = {
  parked: "perhaps not delivered",
  undeliverable: "not delivered",
};
export const deliveryWord = (status: string) => t(DELIVERY[status] ?? status);

/** The words for how a call ended; `stopped`: its turn was stopped, which interrupted it. */
export const endWord = (status: string, stopped: boolean) =>
  stopped && status === "unknown_outcome" ? t("stopped, so its outcome is unknown") : wordOf(status);

/** The displayed name of a conversation: its key without the `api:` prefix. */
export const sessionWord = (session: string) => session.replace(/^api:/, "");

/** Words for details of audit entries. */
const DETAILS: Record<string, string> = {
  requester: "asked by",
  by: "answered by",
  scope: "holds",
  value: "now",
  before: "before",
};
export const detailWord = (name: string) => t(DETAILS[name] ?? name.replaceAll("_", " "));

/** Words for common arguments of tools. */
const ARGUMENTS: Record<string, string> = {
  command: "Command",
  content: "Content",
  path: "Path",
  text: "Text",
  to: "To",
  url: "Address",
  old: "Old",
  new: "New",
};
export const argumentWord = (name: string) => t(ARGUMENTS[name] ?? name);

/** Words for audited actions. */
const ACTIONS: Record<string, string> = {
  accept: "identity file accepted",
  "config.set": "setting changed",
  "config.unset": "setting removed",
  credential: "credential used",
  "grant.revoke": "standing approval revoked",
  import: "conversations imported",
  "people.erase": "person erased",
  restore: "backup restored",
  "secrets.set": "secret stored",
  "secrets.rotate": "secret replaced",
  "secrets.remove": "secret removed",
};
export const actionWord = (kind: string, name: string) => (kind === "action" && ACTIONS[name] ? t(ACTIONS[name]) : "");

/** Words for kinds and outcomes of audit entries. */
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
  flag: "flagged",
};
export const auditWord = (code: string) => t(AUDIT[code] ?? code.replaceAll("_", " "));

/** Words for the state of a turn at an event. */
const TURN: Record<string, string> = {
  ready: "ready to continue",
  running: "runs",
  parked: "waits",
  done: "finished",
  silent: "finished without an answer",
};
export const turnWord = (code: string) => (TURN[code] ? t(TURN[code]) : wordOf(code));

/** Words for the effects of tools, after "Can". */
const EFFECTS: Record<string, string> = {
  reads_private: "read your private data",
  reads_untrusted: "read content from others",
  writes: "change files (can be undone)",
  writes_finally: "make permanent changes",
  communicates: "contact other computers or people",
  persists: "store something for later turns",
  executes: "run programs",
};
export const effectWord = (code: string) => t(EFFECTS[code] ?? code);

/** Titles of settings sections; a plug-in's section has its own name. */
const GROUPS: Record<string, string> = {
  model: "Models",
  prompt_guard: "Data sent to remote models",
  sanitizer: "Answer cleanup",
  classifier: "Model routing",
  agent: "Turns",
  spending: "Spending limits",
  workspace: "Workspace",
  gateway: "HTTP API",
  bus: "Queues",
  store: "Database",
  policy: "What Hob may do",
  approvals: "Approvals",
  admission: "Who may talk to Hob",
  scanner: "Content scanner",
  memory: "Memory",
  er1: "ER1",
  knowledge: "Document search",
  sandbox: "Sandbox",
  web: "Web search",
  mcp: "MCP servers",
  subagents: "Sub-agents",
  browser: "Browser",
  delivery: "Delivery",
  logs: "Log",
  backups: "Backups",
  retention: "Data retention",
  webhooks: "Incoming webhooks",
  webhooks_out: "Outgoing webhooks",
  security: "Security audit",
  dashboard: "Dashboard",
};
export const groupWord = (code: string) => t(GROUPS[code] ?? code);

/** Titles of built-in channels; others have their own names. */
const CHANNELS: Record<string, string> = {
  hob: "Between conversations",
  report: "Background results",
  webhook: "Incoming webhooks",
  webhook_out: "Outgoing webhooks",
};
export const channelWord = (code: string) => t(CHANNELS[code] ?? code);

/** Purposes of model calls outside of turns, by task. */
const PURPOSES: Record<string, string> = {
  summary: "Hob wrote a summary",
  facts: "Hob extracted facts",
  observer: "Hob took notes",
  reflector: "Hob condensed its notes",
  consolidation: "Hob consolidated memories",
  rewriting: "Hob reworded a search",
  reranking: "Hob ranked search results",
  sampling: "Hob answered an MCP server",
  vision: "Hob described an image",
  test: "Hob tested the model",
  replay: "Hob replayed a turn",
};
/** The purpose of a model call classified as, e.g., "owner/summary"; empty for calls of a turn. */
export const purposeWord = (classification: string) => t(PURPOSES[classification.split("/")[1] ?? ""] ?? "");
