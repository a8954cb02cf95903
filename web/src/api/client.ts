import { t } from "../i18n";
import type { LoginAnswer, Routes } from "./schema";

/** A problem report (RFC 9457). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly retryAfter: number | null = null,
    /** The field or file it is about. */
    readonly param = "",
  ) {
    super(message);
  }
}

const KEY = "hob.csrf";
const SCOPES = "hob.scopes";
const listeners = new Set<() => void>();

/** The page's half of the login; the other half is a cookie that scripts cannot read. */
export const login = {
  csrf: () => localStorage.getItem(KEY) ?? "",
  set(csrf: string, scopes: readonly string[] = []) {
    localStorage.setItem(SCOPES, scopes.join(" "));
    if (csrf) localStorage.setItem(KEY, csrf);
    else localStorage.removeItem(KEY);
    listeners.forEach((each) => each());
  },
  subscribe(listener: () => void) {
    listeners.add(listener);
    const elsewhere = (event: StorageEvent) => event.key === KEY && listener();
    addEventListener("storage", elsewhere);
    return () => {
      listeners.delete(listener);
      removeEventListener("storage", elsewhere);
    };
  },
};

export type Scope = "view" | "read" | "chat" | "approve" | "admin";

/** Whether this login has the scope; other actions are not offered. */
export function may(scope: Scope): boolean {
  const scopes = (localStorage.getItem(SCOPES) || "admin").split(" ");
  return scopes.includes("admin") || scopes.includes(scope) || (scope === "view" && scopes.includes("read"));
}

type Given<R extends keyof Routes> = {
  path?: Routes[R]["path"];
  query?: Routes[R]["query"];
  body?: Routes[R]["body"];
  signal?: AbortSignal;
};

/** Call a route by its name in the OpenAPI file. */
export async function call<R extends keyof Routes>(route: R, given: Given<R> = {}): Promise<Routes[R]["answer"]> {
  const response = await send(route, given);
  return (await response.json()) as Routes[R]["answer"];
}

/** Fetch a plug-in's route, which the OpenAPI file does not describe. */
export async function get(path: string): Promise<unknown> {
  if (!/^\/api\/v1\/[\w\-/]+(\?[^#]*)?$/.test(path)) throw new Error("no path below /api/v1/");
  const response = await fetch(path, { headers: { "x-csrf-token": login.csrf() }, credentials: "same-origin" });
  if (!response.ok) throw await problemOf(response);
  return response.json();
}

/** The same for a body that is not JSON. */
export async function fetchFile(id: string): Promise<Blob> {
  return (await send("GET /api/v1/media/{id}", { path: { id } })).blob();
}

/** The same for a file of a repository. */
export async function fetchRepoFile(repo: "work" | "identity", path: string): Promise<Blob> {
  return (await send("GET /api/v1/repo/raw", { query: { repo, path } })).blob();
}

let earlier: Promise<unknown> = Promise.resolve();

/** Reads asked for from now on leave after this has ended. */
export function readAfter(first: Promise<unknown>) {
  earlier = Promise.allSettled([earlier, first]);
}

/** Let the page do other work first, after the calls of this function before: reads asked for together leave one by one. */
function pause(): Promise<unknown> {
  return (earlier = earlier.then(() => new Promise<void>((done) => {
    const { port1, port2 } = new MessageChannel(); // not a timer: browsers delay one in a row by 4 ms
    port1.onmessage = () => { port1.close(); done(); };
    port2.postMessage(null);
  })));
}

async function send<R extends keyof Routes>(route: R, { path, query, body, signal }: Given<R>): Promise<Response> {
  const [method, pattern] = route.split(" ") as [string, string];
  let address = pattern.replace(/{(\w+)}/g, (_, name: string) =>
    encodeURIComponent((path as Record<string, string>)[name] ?? ""),
  );
  const wanted = Object.entries((query ?? {}) as Record<string, unknown>).filter(
    ([, value]) => value !== undefined && value !== "" && value !== false,
  );
  if (wanted.length) address += `?${new URLSearchParams(wanted.map(([name, value]) => [name, String(value)]))}`;
  const headers: Record<string, string> = { "x-csrf-token": login.csrf(), "accept-language": document.documentElement.lang || "en" };
  let sent: BodyInit | undefined;
  if (body instanceof Blob) sent = body;
  else if (body !== undefined) {
    headers["content-type"] = "application/json";
    sent = JSON.stringify(body);
  }
  if (method === "GET") await pause();
  const response = await fetch(address, { method, headers, body: sent, signal, credentials: "same-origin" }).catch((error: unknown) => {
    throw error instanceof TypeError ? new Error(t("Can't reach Hob.")) : error; // browsers say "Failed to fetch", each in its own words
  });
  if (response.ok) return response;
  throw await problemOf(response);
}

async function problemOf(response: Response): Promise<Problem> {
  const wait = Number(response.headers.get("retry-after")) || null;
  const told = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  const problem = new Problem(response.status, String(told.code ?? ""), String(told.detail ?? response.statusText), wait, String(told.param ?? ""));
  if (["unauthorized", "missing_csrf"].includes(problem.code) && !response.url.endsWith("/auth/login")) login.set("");
  return problem;
}

export async function signIn(by: { code: string } | { token: string }): Promise<LoginAnswer> {
  const told = await call("POST /api/v1/auth/login", { body: by });
  login.set(told.csrf, told.scopes);
  return told;
}

export async function signOut(): Promise<void> {
  await call("POST /api/v1/auth/logout").catch(() => undefined);
  login.set("");
}
