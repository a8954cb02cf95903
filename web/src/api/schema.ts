// Written by `make docs` from docs/openapi-v1.json.
/* eslint-disable */

/** A text to remember. */
export interface AddItemRequest {
  text?: string | null;
}

/** An address and its person. */
export interface AddressLink {
  address?: string | null;
  person?: string | null;
  name?: string | null;
}

/** One address. */
export interface AddressReference {
  address?: string | null;
}

/** The same with details. */
export interface AliveDetailsAnswer {
  status: string;
  live: boolean;
  ready: boolean;
  version: string;
  problem: string | null;
  ok: boolean;
}

/** The message that another one answers. */
export interface AnsweredMessage {
  id: string;
  text: string;
}

/** A tool call made by an app's page. */
export interface AppCall {
  version: number;
  tool: string;
  arguments?: string | null;
  confirmed?: boolean | null;
}

/** A question for approval. */
export interface ApprovalAnswer {
  id: string;
  state: string;
  tool: string;
  reason: string;
  rule: string;
  shown: string;
  why: string;
  question: Record<string, unknown> | null;
  scopes: string[];
  session: string;
  requester: string;
  message: string | null;
  asked: number;
  expires: number;
  answered: number | null;
  by: string;
  scope: string;
  note: string;
}

/** An answer to a question for approval. */
export interface ApprovalDecision {
  allowed: boolean;
  scope?: string | null;
}

/** Questions, oldest first. */
export interface ApprovalsAnswer {
  approvals: ApprovalAnswer[];
}

/** A file of a message. */
export interface AttachmentReference {
  id: string;
  name?: string | null;
  voice?: boolean | null;
}

/** An entry of the audit log. */
export interface AuditAnswer {
  seq: number;
  at: number;
  kind: string;
  name: string;
  outcome: string;
  rule: string;
  sentence: string;
  note: string;
  sender: string;
  turn: string;
  trace_id: string;
  detail: string | null;
  hash: string;
}

/** Audit entries, newest last. */
export interface AuditsAnswer {
  entries: AuditAnswer[];
}

/** Branches. */
export interface BranchesAnswer {
  branches: string[];
  current: string;
}

/** A tool call. */
export interface CallAnswer {
  id: string;
  name: string;
  arguments: string;
}

/** A change to a page. */
export interface CanvasChange {
  version: number;
  hidden?: boolean | null;
  scripts?: boolean | null;
}

/** One version of a canvas page. */
export interface CanvasPageAnswer {
  id: string;
  name: string;
  title: string;
  session: string;
  version: number;
  at: number;
  scripts: boolean;
  hidden: boolean;
  html?: string;
  versions?: number[];
}

/** Canvas pages that are shown. */
export interface CanvasPagesAnswer {
  pages: CanvasPageAnswer[];
}

/** A file that differs from the last commit. */
export interface ChangeAnswer {
  path: string;
  state: string;
  before: string;
}

/** Changes of a session; omitted fields stay as they are. */
export interface ChangeSessionRequest {
  session?: string | null;
  title?: string | null;
  paused?: boolean | null;
  archived?: boolean | null;
}

/** A running channel. */
export interface ChannelAnswer {
  name: string;
  account: string;
  text_limit: number;
  undelivered: number;
}

/** Running channels. */
export interface ChannelsAnswer {
  channels: ChannelAnswer[];
}

/** The state of a message. */
export interface ChatAnswer {
  id: string;
  session: string;
  trace_id: string;
  state: string;
  reply: string | null;
  notes: string[];
  usage: UsageAnswer;
  error?: ErrorBody;
  notice?: string;
  question?: string;
  approvals?: string[];
  choices?: string[];
  waits_for?: string;
  merged_into?: string;
  messages?: SentMessageAnswer[];
}

/** A message, and how long to wait for its answer. */
export interface ChatRequest {
  message?: string | null;
  session?: string | null;
  model?: string | null;
  quoted?: string | null;
  attachments?: AttachmentReference[] | null;
  channel?: "api" | "local" | null;
  wait?: number | null;
}

/** A commit. */
export interface CommitAnswer {
  hash: string;
  author: string;
  at: number;
  subject: string;
}

/** The result of connecting a model. */
export interface ConnectedAnswer {
  model: string;
  ok: boolean;
  tools: boolean | null;
  trouble: string;
  kept: boolean;
}

/** A secret that commands can use at one host but never see. */
export interface CredentialAnswer {
  name: string;
  host: string;
  header: string;
  variable: string;
  agents: string[];
  per_minute: number;
}

/** A policy decision about one call. */
export interface DecisionAnswer {
  tool: string;
  tier: number | null;
  allowed: boolean;
  verdict: string;
  rule: string;
  sentence: string;
  reason: string;
  call: string;
  turn: string;
  time: number;
}

/** All-time outcomes of facts proposed by a model. */
export interface DecisionFigures {
  approved: number;
  rejected: number;
  expired: number;
  add: number;
  update: number;
  supersede: number;
  merge: number;
  none: number;
  ask: number;
}

/** Policy decisions in order. */
export interface DecisionsAnswer {
  policy_decisions: DecisionAnswer[];
}

/** Number of deleted items. */
export interface DeletedAnswer {
  status: string;
  deleted: number;
}

/** Derived memories. */
export interface DerivedAnswer {
  facts: number;
  observations: number;
  goals: number;
}

/** A difference. */
export interface DiffAnswer {
  diff: string;
  version: string;
}

/** The findings of the doctor. */
export interface DoctorAnswer {
  at: number;
  checks: number;
  findings: FindingAnswer[];
  skipped: SkippedAnswer[];
}

/** An edge from a span to a part of it. */
export interface EdgeAnswer {
  source: string;
  target: string;
}

/** Number of items with and without vectors. */
export interface EmbeddingIndexAnswer {
  embeddedChunks: number;
  waitingChunks: number;
}

/** The embedding model. */
export interface EmbeddingModelAnswer {
  enabled: boolean;
  provider: string;
  model: string;
  dimension: number;
  normalize: boolean;
  fingerprint: string;
}

/** State of the embedder. */
export interface EmbeddingRuntimeAnswer {
  ready: boolean;
  status: string;
  detail: string;
  checkedAt: number | null;
}

/** Status of search by meaning. */
export interface EmbeddingStatusAnswer {
  status: string;
  embedding: EmbeddingModelAnswer;
  runtime: EmbeddingRuntimeAnswer;
  index: EmbeddingIndexAnswer;
}

/** A message, an answer or a tool result. */
export interface EntryAnswer {
  n: number;
  role: string;
  text: string;
  at: number;
  turn: string;
  trace_id: string | null;
  trust: string;
  origin: string;
  calls: CallAnswer[];
  call: string | null;
  is_error: boolean;
  images: PictureAnswer[];
}

/** What went wrong. */
export interface ErrorBody {
  code: string;
  message: string;
}

/** An event of the timeline ([kinds](timeline.md)). */
export interface EventAnswer {
  event_id: string;
  trace_id: string;
  span_id: string;
  parent_span_id: string | null;
  at: number;
  kind: string;
  name: string;
  status: string;
  type: string;
  session: string | null;
  turn: string | null;
  sender_id: string;
  sender_name: string;
  classification: string;
  authorized: boolean;
  origin: string | null;
  trust: string | null;
  text: string;
  media: string | null;
  seconds: number | null;
  usage: UsageAnswer | null;
  erased: number | null;
}

/** A file attached to a message. */
export interface EventFileAnswer {
  id: string;
  name: string;
  media_type: string;
  size: number;
}

/** A call to judge as if it were made for the owner. */
export interface ExplainRequest {
  tool: string;
  arguments?: string | null;
  tainted?: boolean | null;
  mode?: "read-only" | "guarded" | "workspace" | "full" | null;
  autonomy?: "supervised" | "cautious" | "autonomous" | null;
  words?: string | null;
}

/** The policy's decision on a call. */
export interface ExplainedAnswer {
  verdict: string;
  rule: string;
  reason: string;
  acts: string[];
  tier: number | null;
  stages: StageAnswer[];
  known: boolean;
  told: string[];
}

/** A fact. Times are Unix seconds. */
export interface FactAnswer {
  id: string;
  subject: string;
  predicate: string;
  object: string;
  valid_from: number | null;
  valid_to: number | null;
  recorded_from: number;
  recorded_to: number | null;
  confidence: number;
  state: string;
  said_at: number;
  quote: string;
  evidence: string[];
  change: string;
  contradicts: string[];
  sentence?: string;
}

/** Known facts. */
export interface FactsAnswer {
  facts: FactAnswer[];
}

/** An error. */
export interface Failed {
  error: ErrorBody;
}

/** A file. */
export interface FileAnswer {
  path: string;
  content: string;
  size: number;
  binary: boolean;
  cut: boolean;
}

/** A finding of the doctor. */
export interface FindingAnswer {
  id: string;
  severity: string;
  title: string;
  advice: string;
  where: string;
}

/** Selects memories to forget. */
export interface ForgetRequest {
  id?: string | null;
  layer?: string | null;
  source?: string | null;
  origin?: "" | "owner" | "member" | "stranger" | "peer" | "hob" | "model" | "identity" | "stdin" | "client" | "file" | "web" | "mail" | "mcp" | "tool" | null;
  since?: number | null;
  said?: boolean | null;
  preview?: boolean | null;
}

/** What was forgotten, or would be. */
export interface ForgottenAnswer {
  items: MemoryItemAnswer[];
  count: number;
  turns: string[];
  backups: string[];
  erased: number;
  quoted: number | null;
}

/** A memory that was shown in a prompt and has been forgotten. */
export interface ForgottenItemAnswer {
  id: string;
  score: number;
  parts: Record<string, unknown>;
  forgotten: boolean;
}

/** The start of a new session. */
export interface ForkSessionRequest {
  session?: string | null;
  before?: number | null;
}

/** A fork of a session. */
export interface ForkedAnswer {
  session: string;
  title: string;
  model: string | null;
  permission: string | null;
  paused: boolean;
  archived: boolean;
  entries: number;
  updated: number;
  copied: number;
  of: string;
}

/** The status of `gh`. */
export interface GitHubAnswer {
  status: string;
  detail: string;
}

/** A goal. Times are Unix seconds. */
export interface GoalAnswer {
  id: string;
  text: string;
  state: string;
  due: number | null;
  created: number;
  changed: number;
  origin: string;
  trust: string;
  session: string;
  turn: string;
  evidence: GoalNoteAnswer[];
}

/** Evidence of progress towards a goal. */
export interface GoalNoteAnswer {
  id: string;
  text: string;
  at: number;
}

/** The owner's goals. */
export interface GoalsAnswer {
  goals: GoalAnswer[];
}

/** An approval for more than one call. */
export interface GrantAnswer {
  id: string;
  tool: string;
  session: string | null;
  requester: string;
  directory: string;
  given: number;
  by: string;
}

/** Approvals for more than one call, oldest first. */
export interface GrantsAnswer {
  grants: GrantAnswer[];
}

/** A trace as a graph. */
export interface GraphAnswer {
  policy_decisions: DecisionAnswer[];
  task: TraceTaskAnswer | null;
  approvals: ApprovalAnswer[];
  nodes: NodeAnswer[];
  edges: EdgeAnswer[];
}

/** An uploaded file. */
export interface HandedInAnswer {
  id: string;
  media_type: string;
  size: number;
}

/** Part of a session, oldest first. */
export interface HistoryAnswer {
  session: string;
  entries: EntryAnswer[];
  messages: HistoryMessageAnswer[];
  before: number | null;
  after: number | null;
}

/** A message that Hob sent beside the answer of a turn. */
export interface HistoryMessageAnswer {
  id: string;
  text: string;
  reply_to: AnsweredMessage | null;
  attachments: SentFile[];
  buttons: string[];
  poll: string[];
  turn: string;
}

/** The id of a changed object. */
export interface IdAnswer {
  id: string;
}

/** The owner's decision about a changed identity file. */
export interface IdentityDecision {
  accept: boolean;
  hash: string;
}

/** An identity file. */
export interface IdentityFileAnswer {
  name: string;
  hash: string;
  accepted: boolean;
  problem: string;
  diff: string;
  kept: boolean;
}

/** The identity files. */
export interface IdentityFilesAnswer {
  folder: string;
  files: IdentityFileAnswer[];
}

/** The embedding model to install. */
export interface InstallModelRequest {
  model?: string | null;
}

/** The embedding model after a test call. */
export interface InstalledAnswer {
  status: string;
  action: string;
  model: string;
  detail: string;
}

/** A background job. */
export interface JobAnswer {
  name: string;
  state: string;
  restarts: number;
  problem: string | null;
}

/** A file that was left unchanged. */
export interface KeptFile {
  path: string;
  reason: string;
}

/** Facts in figures. */
export interface KnowledgeFigures {
  factsLatest: number;
  factsAccepted: number;
  factsStale: number;
  factsConflict: number;
  decisions: DecisionFigures;
}

/** A layer of memory. */
export interface LayerAnswer {
  name: string;
  source_prefix: string;
  description: string;
  ttl_days: number;
  chunk_count: number;
  color: string;
}

/** Whether any work was held. */
export interface LiftedAnswer {
  lifted: boolean;
}

/** A spending limit. */
export interface LimitAnswer {
  key: string;
  limit_usd: number;
  spent_usd: number;
  held_usd: number;
  left_usd: number;
}

/** The chat to link to a web user. */
export interface LinkWebUserRequest {
  web_user_id: string;
  address?: string | null;
  whatsapp_jid?: string | null;
}

/** Commits, newest first. */
export interface LogAnswer {
  commits: CommitAnswer[];
}

/** A line of the log. */
export interface LogLineAnswer {
  time: string;
  level: string;
  logger: string;
  trace: string | null;
  text: string;
}

/** Credentials: a link's code or a token. */
export interface Login {
  code?: string | null;
  token?: string | null;
}

/** A browser login; the cookie that comes with it is its other half. */
export interface LoginAnswer {
  who: string;
  scopes: string[];
  csrf: string;
}

/** Confirms that the login is no longer valid. */
export interface LogoutAnswer {
  valid: boolean;
}

/** Log lines, newest last. */
export interface LogsAnswer {
  lines: LogLineAnswer[];
}

/** A line that contains the text. */
export interface MatchAnswer {
  path: string;
  line: number;
  text: string;
}

/** Memory in figures. */
export interface MemoryFigures {
  chunksTotal: number;
  chunksEmbedded: number;
  chunks_total: number;
  chunks_expiring: number;
  max_chunks: number;
  full: number;
  by_layer: Record<string, unknown>;
  overflowEvents: number;
  overflowPer1000: number;
  overflow: Record<string, unknown>;
}

/** A remembered item. */
export interface MemoryItemAnswer {
  id: string;
  layer: string;
  source: string;
  text: string;
  at: number;
  origin: string;
  trust: string;
  speaker: string;
  session: string;
  turn: string;
  color: string;
  score?: number;
  parts?: Record<string, unknown>;
  position?: number;
  role?: string;
  kind?: string;
  importance?: number;
  valid_from?: number | null;
  valid_to?: number | null;
  superseded_by?: string | null;
  evidence?: string[];
  expires_at?: number | null;
}

/** Items of memory. */
export interface MemoryItemsAnswer {
  items: MemoryItemAnswer[];
  problem: string;
  unassisted: string;
}

/** Memory in figures. */
export interface MemoryMetricsAnswer {
  memory: MemoryFigures;
  knowledge: KnowledgeFigures;
  slo: MemoryObjectives;
  led: string;
}

/** KafClaw's approximations of memory quality. */
export interface MemoryObjectives {
  precisionProxy: number;
  recallProxy: number;
  conflictRate: number;
}

/** Changes to memory settings. */
export interface MemorySettingsChange {
  values: Record<string, unknown>;
}

/** Status of memory. */
export interface MemoryStatusAnswer {
  working_memory: Record<string, unknown>;
  observer: Record<string, unknown>;
  observations: Record<string, unknown>[];
  layers: LayerAnswer[];
  totals: MemoryTotals;
  queue: WaitingAnswer;
  derived: DerivedAnswer;
  watched: string[];
  later: Record<string, unknown>;
  er1: Record<string, unknown>;
  overflow: OverflowFigures;
  decisions: Record<string, unknown>;
  led: string;
  embedding: Record<string, unknown>;
  background: Record<string, unknown>;
  expertise: Record<string, unknown>[];
  config: Record<string, unknown>;
}

/** Totals over all layers. */
export interface MemoryTotals {
  total_chunks: number;
  max_chunks: number;
  permanent_chunks: number;
  oldest: number | null;
  newest: number | null;
}

/** A model to connect. */
export interface ModelConnection {
  provider: string;
  base_url?: string | null;
  key?: string | null;
  model?: string | null;
  anyway?: boolean | null;
}

/** The model to probe. */
export interface ModelProbeRequest {
  model?: string | null;
  draft?: string | null;
}

/** Configured models, by reference and by the owner's names for them. */
export interface ModelsAnswer {
  models: string[];
}

/** A new web user. */
export interface NewWebUser {
  name: string;
}

/** A span as a graph node. */
export interface NodeAnswer {
  id: string;
  span_id: string;
  parent_span_id: string | null;
  type: string;
  title: string;
  start_time: number;
  end_time: number;
  duration_ms: number;
  agent_id: string;
  output: string;
}

/** How often memories did not fit the prompt since Hob started. */
export interface OverflowFigures {
  events: number;
  per_1000: number;
  lanes: Record<string, unknown>;
}

/** A page of the timeline, newest first. */
export interface PageAnswer {
  events: PlacedEvent[];
  before: number | null;
  newest: number;
}

/** The policy's decision on a page's call, and its result if it was made (`done`). */
export interface PageCallAnswer {
  verdict: string;
  rule: string;
  reason: string;
  acts: string[];
  tier: number | null;
  stages: StageAnswer[];
  told: string[];
  tool: string;
  shown: string;
  done: boolean;
  result?: Record<string, unknown>;
}

/** The pairing requests. */
export interface PairingAnswer {
  requests: PairingRequestAnswer[];
}

/** A code, and the person to admit with it. */
export interface PairingApproval {
  code?: string | null;
  person?: string | null;
  name?: string | null;
}

/** A pairing code. */
export interface PairingCode {
  code?: string | null;
}

/** A pairing request. */
export interface PairingRequestAnswer {
  code: string;
  address: string;
  name: string;
  asked: number;
  expires: number;
}

/** The known people. */
export interface PeopleAnswer {
  people: PersonAnswer[];
}

/** dict() -> new empty dictionary */
export interface PersonAnswer {
  id: string;
  name: string;
  class: string;
  addresses: string[];
}

/** Where phones reach the dashboard. */
export interface PhoneAnswer {
  wanted: string;
  address: string;
  authority: string;
  problem: string;
  choices: PhoneChoice[];
}

/** An address where the dashboard could be open to phones. */
export interface PhoneChoice {
  at: string;
  name: string;
  problem: string;
}

/** A link that signs a phone's browser in, once. */
export interface PhoneLinkAnswer {
  url: string;
  address: string;
  qr: string[];
  seconds: number;
  authority: string;
}

/** An attached image. */
export interface PictureAnswer {
  id: string;
  media_type: string;
}

/** A piece of a prompt section. */
export interface PieceAnswer {
  role: string;
  text: string;
  name: string;
  untrusted: string;
}

/** An event with its position. */
export interface PlacedEvent {
  event_id: string;
  trace_id: string;
  span_id: string;
  parent_span_id: string | null;
  at: number;
  kind: string;
  name: string;
  status: string;
  type: string;
  session: string | null;
  turn: string | null;
  sender_id: string;
  sender_name: string;
  classification: string;
  authorized: boolean;
  origin: string | null;
  trust: string | null;
  text: string;
  media: string | null;
  seconds: number | null;
  usage: UsageAnswer | null;
  erased: number | null;
  cursor: number;
  span_type: string;
  files: EventFileAnswer[];
}

/** A plug-in. */
export interface PluginAnswer {
  name: string;
  package: string;
  version: string;
  on: boolean;
  declares: string[];
  commands: string[];
}

/** Installed plug-ins. */
export interface PluginsAnswer {
  plugins: PluginAnswer[];
}

/** An error as in RFC 9457. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  param?: string;
}

/** The contents of a session's next request. */
export interface PromptAnswer {
  session: string;
  model: string;
  sections: SectionAnswer[];
  bytes: number;
  tokens: number;
  limit: number;
}

/** The request of a model call. */
export interface PromptTextAnswer {
  turn: string;
  step: number;
  sections: SectionTextAnswer[];
  kept: boolean;
  erased: number | null;
}

/** A model call of a turn, and whether its request can be rebuilt. */
export interface RebuiltAnswer {
  step: number;
  model: string;
  sent: string;
  identical: boolean | null;
  why: string;
}

/** The memories a turn was shown. */
export interface RecalledAnswer {
  turn: string;
  items: (MemoryItemAnswer | ForgottenItemAnswer)[];
}

/** A confirmation that all vectors are rebuilt. */
export interface ReindexRequest {
  confirmWipe?: boolean | null;
  reason?: string | null;
}

/** Number of dropped vectors. */
export interface ReindexedAnswer {
  status: string;
  wipedChunks: number;
  reason: string;
}

/** A turn, and its replay with another model. */
export interface ReplayAnswer {
  turn: string;
  trace: string;
  rebuilt: RebuiltAnswer[];
  then: ReplaySide;
  now: ReplaySide | null;
  difference: string[];
}

/** The turn to replay. */
export interface ReplayRequest {
  id: string;
  model?: string | null;
}

/** The outcome of a turn with one model. */
export interface ReplaySide {
  cost_usd: number | null;
  input_tokens: number;
  output_tokens: number;
  model: string;
  text: string;
  calls: ReplayedCall[];
  rounds: number;
  seconds: number;
  trouble: string;
}

/** A tool call of a model. */
export interface ReplayedCall {
  name: string;
  arguments: string;
  recorded: boolean;
}

/** The branch to check out. */
export interface RepoCheckout {
  repo?: "work" | "identity" | null;
  branch?: string | null;
  create?: boolean | null;
}

/** The commit to make. */
export interface RepoCommit {
  repo?: "work" | "identity" | null;
  message?: string | null;
  paths?: string[] | null;
  reviewed?: Record<string, unknown> | null;
}

/** Git's output. */
export interface RepoDoneAnswer {
  result: string;
  hash?: string;
}

/** The folder to initialize. */
export interface RepoInit {
  repo?: "work" | "identity" | null;
  remote_url?: string | null;
}

/** A pull request to open. */
export interface RepoPullRequest {
  title: string;
  body?: string | null;
  base?: string | null;
  head?: string | null;
  draft?: boolean | null;
  repo?: "work" | "identity" | null;
}

/** Selects a repository. */
export interface RepoQuery {
  repo?: "work" | "identity" | null;
}

/** An entry of a folder. */
export interface RepoRow {
  path: string;
  name: string;
  type: string;
  depth: number;
  size: number;
}

/** The results of a search. */
export interface RepoSearchAnswer {
  root: string;
  repos: string[];
  matches: MatchAnswer[];
  names: string[];
}

/** The status of a repository. */
export interface RepoStatusAnswer {
  root: string;
  repository: boolean;
  branch: string;
  remote: string;
  ahead: number;
  behind: number;
  changes: ChangeAnswer[];
}

/** A layer of memory. */
export interface ResetLayerRequest {
  layer?: string | null;
}

/** A retried message. */
export interface RetriedAnswer {
  id: string;
  turn: string | null;
  message: string | null;
  state: string;
}

/** An entry of a conversation. */
export interface SaidAnswer {
  role: string;
  at: number;
  text: string;
}

/** The sandbox of commands and its limits. */
export interface SandboxAnswer {
  backend: string;
  found: string;
  confines: boolean;
  reason: string;
  advice: string;
  work: string;
  hosts: string[];
  read: string[];
  write: string[];
  outgoing: string[];
  protected: string[];
  toolchains: string[];
  environment: string[];
  credentials: CredentialAnswer[];
}

/** Where a secret is stored, never its value. */
export interface SecretAnswer {
  key: string;
  about: string;
  reference: string | null;
  problem: string;
  changed: number | null;
}

/** Secrets, by where they are stored. */
export interface SecretsAnswer {
  secrets: SecretAnswer[];
}

/** A section of a prompt. */
export interface SectionAnswer {
  name: string;
  seed: string;
  bytes: number;
  tokens: number;
  cached: boolean;
}

/** A section of a request, as the model received it. */
export interface SectionTextAnswer {
  name: string;
  bytes: number;
  tokens: number;
  cached: boolean;
  pieces: PieceAnswer[];
}

/** A file of a message that Hob sent. */
export interface SentFile {
  id: string;
  name: string;
  media_type: string;
  size: number;
  url: string;
  path?: string;
}

/** A message that Hob sent beside its answer, with the tool `message`. */
export interface SentMessageAnswer {
  id: string;
  text: string;
  reply_to: AnsweredMessage | null;
  attachments: SentFile[];
  buttons: string[];
  poll: string[];
}

/** A session. */
export interface SessionAnswer {
  session: string;
  title: string;
  model: string | null;
  permission: string | null;
  paused: boolean;
  archived: boolean;
  entries: number;
  updated: number;
}

/** A deleted session. */
export interface SessionDeletedAnswer {
  session: string;
  erased: number;
}

/** A session with its spending and latest entries. */
export interface SessionDetailsAnswer {
  session: string;
  title: string;
  model: string | null;
  permission: string | null;
  paused: boolean;
  archived: boolean;
  entries: number;
  updated: number;
  cost_usd: number;
  calls: number;
  waiting: number;
  last: SaidAnswer[];
}

/** One session. */
export interface SessionReference {
  session?: string | null;
}

/** Sessions, the latest first. */
export interface SessionsAnswer {
  sessions: SessionAnswer[];
}

/** The setting after the change. */
export interface SetAnswer {
  key: string;
  value: unknown;
  status: string;
}

/** A new goal, or a change to the one whose id is given. */
export interface SetGoalRequest {
  text?: string | null;
  id?: string | null;
  state?: string | null;
  due?: number | null;
  note?: string | null;
}

/** A setting and its new value. */
export interface SetSettingRequest {
  key: string;
  value?: unknown;
}

/** The new work repository. */
export interface SetWorkRepoRequest {
  path: string;
}

/** A setting. */
export interface SettingAnswer {
  key: string;
  value: unknown;
  secret: boolean;
  origin: string;
  layer: string;
  doc: string;
  changeable: boolean;
  one_of: string[];
  at_least: number | null;
  at_most: number | null;
  kind: string;
}

/** All settings. */
export interface SettingsAnswer {
  settings: SettingAnswer[];
}

/** The changes. */
export interface SettingsChange {
  values: Record<string, unknown>;
}

/** The settings file. */
export interface SettingsFileAnswer {
  path: string;
  text: string | null;
}

/** A change of a fact. */
export interface SettleFactRequest {
  id?: string | null;
  action?: string | null;
  object?: string | null;
}

/** A question after its answer. */
export interface SettledAnswer {
  id: string;
  state: string;
  tool: string;
  reason: string;
  rule: string;
  shown: string;
  why: string;
  question: Record<string, unknown> | null;
  scopes: string[];
  session: string;
  requester: string;
  message: string | null;
  asked: number;
  expires: number;
  answered: number | null;
  by: string;
  scope: string;
  note: string;
  line: string;
}

/** A changed fact. */
export interface SettledFactAnswer {
  before: FactAnswer;
  after: FactAnswer[];
}

/** Whether a web user's chat is exempt from silent mode. */
export interface SilenceOverride {
  web_user_id: string;
  force_send?: boolean | null;
}

/** A check that could not run. */
export interface SkippedAnswer {
  id: string;
  reason: string;
}

/** One timed span of a trace. */
export interface SpanAnswer {
  id: string;
  span_id: string;
  parent_span_id: string | null;
  type: string;
  kind: string;
  title: string;
  time: number;
  started_at: number;
  seconds: number | null;
  duration: string | null;
  status: string;
  output: string;
  event: EventAnswer;
  files: EventFileAnswer[];
  metadata: Record<string, unknown>;
}

/** Spending by item, and the limits in dollars and tokens. */
export interface SpendingAnswer {
  days: number;
  by: string;
  since: number;
  total: SpentAnswer;
  rows: SpentAnswer[];
  limits: LimitAnswer[];
  token_limits: TokenLimitAnswer[];
}

/** Spending on one item. */
export interface SpentAnswer {
  key?: string;
  cost_usd: number;
  held_usd: number;
  calls: number;
  unknown_calls: number;
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
}

/** The answer of one stage of the policy. */
export interface StageAnswer {
  stage: string;
  verdict: string;
  rule: string;
}

/** Hob's status. Without a token: only version, mode and readiness. Features add fields of their own. */
export interface StatusAnswer {
  version: string;
  mode: string;
  ready: boolean;
  pid?: number;
  since?: number;
  agent_id?: string;
  uptime_seconds?: number;
  group_enabled?: boolean;
  orchestrator_enabled?: boolean;
  address?: string | null;
  model?: string;
  halted?: number | null;
  running?: number;
  waiting?: number;
  parked?: number;
  for_approval?: number;
  for_leave?: number;
  for_answer?: number;
  pending?: number;
  owed?: number;
  undeliverable?: number;
  stuck?: Record<string, unknown>[];
  unread?: number;
  oldest_pending_seconds?: number;
  oldest_owed_seconds?: number;
  oldest_waiting_seconds?: number;
  writer_queue?: number;
  settings?: Record<string, unknown>;
  resting?: Record<string, unknown>[];
  unaccepted?: string[];
  store?: string;
  store_health?: Record<string, unknown>;
  jobs?: JobAnswer[];
  connected?: Record<string, unknown>[];
}

/** The number of stopped turns and commands. */
export interface StoppedAnswer {
  ended: number;
}

/** A task. */
export interface TaskAnswer {
  id: string;
  state: string;
  session: string;
  trace_id: string;
  title: string;
  reason: string;
  created: number;
  updated: number;
  waits_for: string;
  question?: string;
  choices?: string[];
}

/** Tasks, newest first. */
export interface TasksAnswer {
  tasks: TaskAnswer[];
  before: string | null;
}

/** Activity totals. */
export interface TodayAnswer {
  turns: number;
  tools: number;
  memories: number;
}

/** A daily limit of tokens. */
export interface TokenLimitAnswer {
  key: string;
  limit: number;
  used: number;
  left: number;
}

/** A tool. */
export interface ToolAnswer {
  name: string;
  group: string;
  about: string;
  tier: number;
  effects: string[];
}

/** A call made by the owner. */
export interface ToolTrial {
  arguments?: string | null;
  confirmed?: boolean | null;
}

/** The policy's decision on a call, and its result if it was made (`done`). */
export interface ToolTriedAnswer {
  verdict: string;
  rule: string;
  reason: string;
  acts: string[];
  tier: number | null;
  stages: StageAnswer[];
  told: string[];
  done: boolean;
  failed?: boolean;
  text?: string;
  seconds?: number;
}

/** Tools. */
export interface ToolsAnswer {
  tools: ToolAnswer[];
}

/** One message's trace. */
export interface TraceAnswer {
  policy_decisions: DecisionAnswer[];
  task: TraceTaskAnswer | null;
  approvals: ApprovalAnswer[];
  trace_id: string;
  spans: SpanAnswer[];
  turns: string[];
  erased: number | null;
}

/** A task with the cost of its trace. */
export interface TraceTaskAnswer {
  id: string;
  state: string;
  session: string;
  trace_id: string;
  title: string;
  reason: string;
  created: number;
  updated: number;
  waits_for: string;
  question?: string;
  choices?: string[];
  channel: string;
  delivery_status: string;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  completed_at: number | null;
}

/** A folder. */
export interface TreeAnswer {
  root: string;
  path: string;
  rows: RepoRow[];
}

/** The result of probing a model. */
export interface TriedAnswer {
  model: string;
  ok: boolean;
  tools: boolean | null;
  trouble: string;
  first?: number;
  seconds?: number;
  cost?: number | null;
  answer?: string;
}

/** The changes to undo. */
export interface UndoRequest {
  id?: string | null;
  session?: string | null;
  preview?: boolean | null;
}

/** Files restored by an undo, or its preview. */
export interface UndoneAnswer {
  turn: string;
  words: string;
  restored: string[];
  unchanged: string[];
  kept: KeptFile[];
  running: string[];
  back: string;
  diff?: string;
}

/** An address that was unlinked. */
export interface UnlinkedAnswer {
  address: string;
}

/** The outcomes waiting to be fetched, oldest first. */
export interface UnreadAnswer {
  messages: UnreadMessage[];
}

/** A message whose outcome was not fetched yet. */
export interface UnreadMessage {
  id: string;
  session: string;
  state: string;
  title: string;
  created: number;
  unasked: boolean;
}

/** Tokens and dollars. */
export interface UsageAnswer {
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  cost_usd: number | null;
}

/** Whether the caller is authenticated. */
export interface VerifiedAnswer {
  valid: boolean;
  auth_required: boolean;
  who?: string;
  scopes?: string[];
}

/** A plug-in's page. */
export interface ViewAnswer {
  name: string;
  title: string;
  asks: string[];
}

/** Plug-in pages. */
export interface ViewsAnswer {
  views: ViewAnswer[];
}

/** Items waiting for background work. */
export interface WaitingAnswer {
  vectors: number;
  facts: number;
  observations: number;
}

/** A web user's message. */
export interface WebChatRequest {
  message?: string | null;
  session?: string | null;
  model?: string | null;
  quoted?: string | null;
  attachments?: AttachmentReference[] | null;
  channel?: "api" | "local" | null;
  wait?: number | null;
  web_user_id?: string | null;
}

/** A person who writes in the browser. */
export interface WebUserAnswer {
  id: string;
  web_user_id: string;
  name: string;
  force_send: boolean;
  address: string;
  whatsapp_jid: string;
  created: number;
  session: string;
}

/** All web users. */
export interface WebUsersAnswer {
  web_users: WebUserAnswer[];
}

/** A tool, as models and the guard see it. */
export interface WholeToolAnswer {
  name: string;
  group: string;
  about: string;
  tier: number;
  effects: string[];
  schema: Record<string, unknown>;
  roles: Record<string, unknown>;
  restart: string;
  timeout: number;
  output_cap: number;
  bytes: number;
}

/** The repository where tools work. */
export interface WorkRepoAnswer {
  path: string;
}

export interface Routes {
  "GET /api/v1/memory/status": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: MemoryStatusAnswer;
  };
  "GET /api/v1/memory/metrics": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: MemoryMetricsAnswer;
  };
  "GET /api/v1/memory/search": {
    path: undefined;
    query: { query?: string; layer?: string; source?: string; origin?: "" | "owner" | "member" | "stranger" | "peer" | "hob" | "model" | "identity" | "stdin" | "client" | "file" | "web" | "mail" | "mcp" | "tool"; since?: number; limit?: number; as_of?: number; waiting?: string; before?: string };
    body: undefined;
    answer: MemoryItemsAnswer;
  };
  "GET /api/v1/memory/embedding/status": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: EmbeddingStatusAnswer;
  };
  "GET /api/v1/memory/embedding/healthz": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: EmbeddingStatusAnswer;
  };
  "POST /api/v1/memory/embedding/install": {
    path: undefined;
    query: undefined;
    body: InstallModelRequest;
    answer: InstalledAnswer;
  };
  "POST /api/v1/memory/embedding/reindex": {
    path: undefined;
    query: undefined;
    body: ReindexRequest;
    answer: ReindexedAnswer;
  };
  "GET /api/v1/memory/items": {
    path: undefined;
    query: { query?: string; layer?: string; source?: string; origin?: "" | "owner" | "member" | "stranger" | "peer" | "hob" | "model" | "identity" | "stdin" | "client" | "file" | "web" | "mail" | "mcp" | "tool"; since?: number; limit?: number; as_of?: number; waiting?: string; before?: string };
    body: undefined;
    answer: MemoryItemsAnswer;
  };
  "POST /api/v1/memory/items": {
    path: undefined;
    query: undefined;
    body: AddItemRequest;
    answer: MemoryItemAnswer;
  };
  "GET /api/v1/memory/items/{id}": {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: MemoryItemAnswer;
  };
  "GET /api/v1/memory/recalled": {
    path: undefined;
    query: { turn?: string };
    body: undefined;
    answer: RecalledAnswer;
  };
  "GET /api/v1/memory/facts": {
    path: undefined;
    query: { known_at?: number; valid_at?: number; past?: boolean; ever?: boolean };
    body: undefined;
    answer: FactsAnswer;
  };
  "POST /api/v1/memory/facts": {
    path: undefined;
    query: undefined;
    body: SettleFactRequest;
    answer: SettledFactAnswer;
  };
  "GET /api/v1/memory/goals": {
    path: undefined;
    query: { closed?: boolean };
    body: undefined;
    answer: GoalsAnswer;
  };
  "POST /api/v1/memory/goals": {
    path: undefined;
    query: undefined;
    body: SetGoalRequest;
    answer: GoalAnswer;
  };
  "POST /api/v1/memory/forget": {
    path: undefined;
    query: undefined;
    body: ForgetRequest;
    answer: ForgottenAnswer;
  };
  "POST /api/v1/memory/prune": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: DeletedAnswer;
  };
  "POST /api/v1/memory/reset": {
    path: undefined;
    query: undefined;
    body: ResetLayerRequest;
    answer: DeletedAnswer;
  };
  "POST /api/v1/memory/config": {
    path: undefined;
    query: undefined;
    body: MemorySettingsChange;
    answer: SettingsAnswer;
  };
  "POST /api/v1/policy/explain": {
    path: undefined;
    query: undefined;
    body: ExplainRequest;
    answer: ExplainedAnswer;
  };
  "GET /api/v1/tools": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: ToolsAnswer;
  };
  "GET /api/v1/tools/{id}": {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: WholeToolAnswer;
  };
  "POST /api/v1/tools/{id}/test": {
    path: { id: string };
    query: undefined;
    body: ToolTrial;
    answer: ToolTriedAnswer;
  };
  "GET /api/v1/webusers": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: WebUsersAnswer;
  };
  "POST /api/v1/webusers": {
    path: undefined;
    query: undefined;
    body: NewWebUser;
    answer: WebUserAnswer;
  };
  "POST /api/v1/webusers/force": {
    path: undefined;
    query: undefined;
    body: SilenceOverride;
    answer: WebUserAnswer;
  };
  "DELETE /api/v1/webusers/{id}": {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: Record<string, unknown>;
  };
  "GET /api/v1/weblinks": {
    path: undefined;
    query: { web_user_id: string };
    body: undefined;
    answer: WebUserAnswer;
  };
  "POST /api/v1/weblinks": {
    path: undefined;
    query: undefined;
    body: LinkWebUserRequest;
    answer: WebUserAnswer;
  };
  "POST /api/v1/webchat/send": {
    path: undefined;
    query: undefined;
    body: WebChatRequest;
    answer: ChatAnswer;
  };
  "GET /ws": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  "GET /api/v1/logs": {
    path: undefined;
    query: { level?: "debug" | "info" | "warning" | "error" | "critical"; text?: string; trace_id?: string; limit?: number };
    body: undefined;
    answer: LogsAnswer;
  };
  "GET /api/v1/doctor": {
    path: undefined;
    query: { online?: boolean; refresh?: boolean };
    body: undefined;
    answer: DoctorAnswer;
  };
  "GET /api/v1/models": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: ModelsAnswer;
  };
  "GET /api/v1/channels": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: ChannelsAnswer;
  };
  "GET /api/v1/plugins": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: PluginsAnswer;
  };
  "GET /api/v1/secrets": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: SecretsAnswer;
  };
  "GET /api/v1/sandbox": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: SandboxAnswer;
  };
  "GET /api/v1/identity": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: IdentityFilesAnswer;
  };
  "POST /api/v1/identity/{id}": {
    path: { id: string };
    query: undefined;
    body: IdentityDecision;
    answer: IdentityFilesAnswer;
  };
  "POST /api/v1/models/connect": {
    path: undefined;
    query: undefined;
    body: ModelConnection;
    answer: ConnectedAnswer;
  };
  "POST /api/v1/models/test": {
    path: undefined;
    query: undefined;
    body: ModelProbeRequest;
    answer: TriedAnswer;
  };
  "GET /api/v1/people": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: PeopleAnswer;
  };
  "POST /api/v1/people/link": {
    path: undefined;
    query: undefined;
    body: AddressLink;
    answer: PersonAnswer;
  };
  "POST /api/v1/people/unlink": {
    path: undefined;
    query: undefined;
    body: AddressReference;
    answer: UnlinkedAnswer;
  };
  "GET /api/v1/pairing": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: PairingAnswer;
  };
  "POST /api/v1/pairing/approve": {
    path: undefined;
    query: undefined;
    body: PairingApproval;
    answer: PersonAnswer;
  };
  "POST /api/v1/pairing/deny": {
    path: undefined;
    query: undefined;
    body: PairingCode;
    answer: PairingRequestAnswer;
  };
  "GET /api/v1/workrepo": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: WorkRepoAnswer;
  };
  "POST /api/v1/workrepo": {
    path: undefined;
    query: undefined;
    body: SetWorkRepoRequest;
    answer: WorkRepoAnswer;
  };
  "GET /api/v1/repo/tree": {
    path: undefined;
    query: { repo?: "work" | "identity"; path?: string };
    body: undefined;
    answer: TreeAnswer;
  };
  "GET /api/v1/repo/file": {
    path: undefined;
    query: { repo?: "work" | "identity"; path?: string };
    body: undefined;
    answer: FileAnswer;
  };
  "GET /api/v1/repo/raw": {
    path: undefined;
    query: { repo?: "work" | "identity"; path?: string };
    body: undefined;
    answer: Blob;
  };
  "GET /api/v1/repo/status": {
    path: undefined;
    query: { repo?: "work" | "identity" };
    body: undefined;
    answer: RepoStatusAnswer;
  };
  "GET /api/v1/repo/search": {
    path: undefined;
    query: { repo?: "work" | "identity"; text?: string };
    body: undefined;
    answer: RepoSearchAnswer;
  };
  "GET /api/v1/repo/gh-auth": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: GitHubAnswer;
  };
  "GET /api/v1/repo/branches": {
    path: undefined;
    query: { repo?: "work" | "identity" };
    body: undefined;
    answer: BranchesAnswer;
  };
  "GET /api/v1/repo/log": {
    path: undefined;
    query: { repo?: "work" | "identity"; path?: string; limit?: number };
    body: undefined;
    answer: LogAnswer;
  };
  "GET /api/v1/repo/diff": {
    path: undefined;
    query: { repo?: "work" | "identity"; path?: string; commit?: string };
    body: undefined;
    answer: DiffAnswer;
  };
  "GET /api/v1/repo/diff-file": {
    path: undefined;
    query: { repo?: "work" | "identity"; path?: string; commit?: string };
    body: undefined;
    answer: DiffAnswer;
  };
  "POST /api/v1/repo/checkout": {
    path: undefined;
    query: undefined;
    body: RepoCheckout;
    answer: RepoDoneAnswer;
  };
  "POST /api/v1/repo/commit": {
    path: undefined;
    query: undefined;
    body: RepoCommit;
    answer: RepoDoneAnswer;
  };
  "POST /api/v1/repo/pull": {
    path: undefined;
    query: undefined;
    body: RepoQuery;
    answer: RepoDoneAnswer;
  };
  "POST /api/v1/repo/push": {
    path: undefined;
    query: undefined;
    body: RepoQuery;
    answer: RepoDoneAnswer;
  };
  "POST /api/v1/repo/init": {
    path: undefined;
    query: undefined;
    body: RepoInit;
    answer: RepoDoneAnswer;
  };
  "POST /api/v1/repo/pr": {
    path: undefined;
    query: undefined;
    body: RepoPullRequest;
    answer: RepoDoneAnswer;
  };
  "GET /health": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: AliveDetailsAnswer;
  };
  "GET /api/v1/status": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: StatusAnswer;
  };
  "POST /api/v1/auth/verify": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: VerifiedAnswer;
  };
  "POST /api/v1/auth/login": {
    path: undefined;
    query: undefined;
    body: Login;
    answer: LoginAnswer;
  };
  "POST /api/v1/auth/logout": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: LogoutAnswer;
  };
  "GET /api/v1/timeline": {
    path: undefined;
    query: { before?: number; limit?: number; offset?: number; kind?: string; session?: string; trace_id?: string; sender?: string; name?: string; text?: string; errors?: boolean; tainted?: boolean; authorized?: boolean; cost?: number };
    body: undefined;
    answer: PageAnswer;
  };
  "GET /api/v1/trace/{id}": {
    path: { id: string };
    query: { whole?: boolean };
    body: undefined;
    answer: TraceAnswer;
  };
  "GET /api/v1/trace-graph/{id}": {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: GraphAnswer;
  };
  "GET /api/v1/prompts/{id}": {
    path: { id: string };
    query: { step: number };
    body: undefined;
    answer: PromptTextAnswer;
  };
  "GET /api/v1/policy-decisions": {
    path: undefined;
    query: { trace_id: string };
    body: undefined;
    answer: DecisionsAnswer;
  };
  "GET /api/v1/sessions": {
    path: undefined;
    query: { archived?: boolean };
    body: undefined;
    answer: SessionsAnswer;
  };
  "GET /api/v1/sessions/show": {
    path: undefined;
    query: { session?: string };
    body: undefined;
    answer: SessionDetailsAnswer;
  };
  "GET /api/v1/sessions/history": {
    path: undefined;
    query: { session?: string; before?: number; after?: number; limit?: number };
    body: undefined;
    answer: HistoryAnswer;
  };
  "POST /api/v1/sessions/change": {
    path: undefined;
    query: undefined;
    body: ChangeSessionRequest;
    answer: SessionAnswer;
  };
  "POST /api/v1/sessions/delete": {
    path: undefined;
    query: undefined;
    body: SessionReference;
    answer: SessionDeletedAnswer;
  };
  "POST /api/v1/sessions/fork": {
    path: undefined;
    query: undefined;
    body: ForkSessionRequest;
    answer: ForkedAnswer;
  };
  "GET /api/v1/tasks": {
    path: undefined;
    query: { limit?: number; all?: boolean; state?: "" | "pending" | "running" | "waiting" | "done" | "failed" | "cancelled"; status?: "" | "pending" | "running" | "waiting" | "done" | "failed" | "cancelled"; channel?: string; offset?: number; ended?: boolean; before?: string };
    body: undefined;
    answer: TasksAnswer;
  };
  "GET /api/v1/tasks/{id}": {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: TaskAnswer;
  };
  "GET /api/v1/approvals/pending": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: ApprovalsAnswer;
  };
  "GET /api/v1/approvals/{id}": {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: ApprovalAnswer;
  };
  "POST /api/v1/approvals/{id}": {
    path: { id: string };
    query: undefined;
    body: ApprovalDecision;
    answer: SettledAnswer;
  };
  "GET /api/v1/grants": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: GrantsAnswer;
  };
  "DELETE /api/v1/grants/{id}": {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: IdAnswer;
  };
  "GET /api/v1/usage": {
    path: undefined;
    query: { days?: number; by?: "day" | "model" | "session" | "sender" | "task" | "tool" };
    body: undefined;
    answer: SpendingAnswer;
  };
  "GET /api/v1/today": {
    path: undefined;
    query: { since?: number };
    body: undefined;
    answer: TodayAnswer;
  };
  "GET /api/v1/unread": {
    path: undefined;
    query: { channel?: "api" | "local"; session?: string; after?: number; wait?: number };
    body: undefined;
    answer: UnreadAnswer;
  };
  "GET /api/v1/prompt": {
    path: undefined;
    query: { session?: string };
    body: undefined;
    answer: PromptAnswer;
  };
  "GET /api/v1/views": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: ViewsAnswer;
  };
  "POST /api/v1/stop": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: StoppedAnswer;
  };
  "POST /api/v1/resume": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: LiftedAnswer;
  };
  "POST /api/v1/retry/{id}": {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: RetriedAnswer;
  };
  "POST /api/v1/undo": {
    path: undefined;
    query: undefined;
    body: UndoRequest;
    answer: UndoneAnswer;
  };
  "POST /api/v1/replay": {
    path: undefined;
    query: undefined;
    body: ReplayRequest;
    answer: ReplayAnswer;
  };
  "POST /api/v1/chat": {
    path: undefined;
    query: undefined;
    body: ChatRequest;
    answer: ChatAnswer;
  };
  "GET /api/v1/chat/{id}": {
    path: { id: string };
    query: { wait?: number };
    body: undefined;
    answer: ChatAnswer;
  };
  "POST /api/v1/attachments": {
    path: undefined;
    query: undefined;
    body: Blob;
    answer: HandedInAnswer;
  };
  "GET /api/v1/media/{id}": {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: Blob;
  };
  "GET /api/v1/canvas": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: CanvasPagesAnswer;
  };
  "GET /api/v1/canvas/{id}": {
    path: { id: string };
    query: { version?: number };
    body: undefined;
    answer: CanvasPageAnswer;
  };
  "POST /api/v1/canvas/{id}": {
    path: { id: string };
    query: undefined;
    body: CanvasChange;
    answer: CanvasPageAnswer;
  };
  "POST /api/v1/canvas/{id}/call": {
    path: { id: string };
    query: undefined;
    body: AppCall;
    answer: PageCallAnswer;
  };
  "GET /api/v1/settings": {
    path: undefined;
    query: { key?: string };
    body: undefined;
    answer: SettingsAnswer;
  };
  "POST /api/v1/settings": {
    path: undefined;
    query: undefined;
    body: SetSettingRequest;
    answer: SetAnswer;
  };
  "PATCH /api/v1/settings": {
    path: undefined;
    query: undefined;
    body: SettingsChange;
    answer: SettingsAnswer;
  };
  "GET /api/v1/settings/file": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: SettingsFileAnswer;
  };
  "GET /api/v1/phone": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: PhoneAnswer;
  };
  "POST /api/v1/phone": {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: PhoneLinkAnswer;
  };
  "GET /api/v1/audit": {
    path: undefined;
    query: { limit?: number; kind?: string; before?: number; text?: string };
    body: undefined;
    answer: AuditsAnswer;
  };
}
