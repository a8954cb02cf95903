import { login } from "./client";
import type { EventAnswer } from "./schema";

/** A message of the WebSocket: `type`, the `ref` it answers, and its fields. */
export type Message = { type: string; ref?: string } & Record<string, unknown>;
export type LiveEvent = EventAnswer & { cursor: number };
export type Connection = { state: "connecting" | "open" | "lost"; since: number };

const EVENTS = "events";
/** A link that brought nothing for so long is asked for an answer, and is lost without one. */
const QUIET_MS = 20_000, ANSWER_MS = 8_000;

/** The page's connection: events with a cursor, so that none is lost or repeated, and requests. */
class Live {
  private socket: WebSocket | null = null;
  private cursor: number | null = null;
  private begun = false; // whether the starting cursor is known
  private attempts = 0;
  anew = false; // whether events go on from now, not from the last one that came: it is not known yet, or an older database was restored
  private next = 0;
  private timer = 0;
  private last = 0; // when anything came
  private deadline = 0; // timer until which something must come
  private wanted = false;
  private readonly followed = new Map<string, (message: Message) => void>();
  private readonly heard = new Set<(event: LiveEvent) => void>();
  private readonly watching = new Set<() => void>();
  connection: Connection = { state: "connecting", since: Date.now() };

  constructor() {
    const here = () => document.visibilityState === "visible" && this.check();
    document.addEventListener("visibilitychange", here);
    addEventListener("online", here);
    setInterval(() => Date.now() - this.last >= QUIET_MS && this.socket && here(), 5_000);
  }

  /** Connect, and reconnect when needed. False if it was open. Events start at the cursor of `from`, once known. */
  open(): boolean {
    if (this.wanted) return false;
    this.wanted = true;
    this.connect();
    return true;
  }

  close() {
    this.wanted = false;
    clearTimeout(this.timer);
    clearTimeout(this.deadline);
    this.socket?.close();
    this.socket = null;
  }

  /** Start events at this cursor, unless already started; without a cursor, at the next event. */
  from(cursor: number | null) {
    if (this.begun) return;
    this.begun = true;
    this.cursor = cursor;
    this.listen();
  }

  private listen() {
    this.anew = this.cursor === null;
    if (this.begun) this.say({ type: "subscribe", ref: EVENTS, ...(this.cursor === null ? {} : { after: this.cursor }) });
  }

  onEvent(listener: (event: LiveEvent) => void) {
    this.heard.add(listener);
    return () => void this.heard.delete(listener);
  }

  subscribe = (listener: () => void) => {
    this.watching.add(listener);
    return () => void this.watching.delete(listener);
  };

  /** Send a request and pass every answer to the handler until it returns the final one. */
  ask(message: Record<string, unknown>, listener: (message: Message) => void): () => void {
    const ref = `r${++this.next}`;
    this.followed.set(ref, listener);
    if (!this.say({ ...message, ref })) {
      this.followed.delete(ref);
      listener({ type: "error", error: { code: "offline", message: "" } });
    }
    return () => void this.followed.delete(ref);
  }

  private say(message: Record<string, unknown>): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  private become(state: Connection["state"]) {
    if (state === this.connection.state) return;
    this.connection = { state, since: Date.now() };
    this.watching.forEach((each) => each());
  }

  /** Ask the server whether it is still there; while the connection is lost, try again at once. */
  private check() {
    if (!this.wanted || this.deadline) return;
    if (this.socket) {
      if (this.say({ type: "ping" })) this.expect(this.socket);
      return;
    }
    clearTimeout(this.timer);
    this.connect();
  }

  private expect(socket: WebSocket) {
    clearTimeout(this.deadline);
    this.deadline = window.setTimeout(() => { // a dead peer does not take part in closing either
      socket.close();
      this.end(socket, 0);
    }, ANSWER_MS);
  }

  private connect() {
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
    this.socket = socket;
    socket.onopen = () => socket.send(JSON.stringify({ type: "hello", token: login.csrf() }));
    socket.onmessage = (event) => this.hear(JSON.parse(event.data as string) as Message);
    socket.onclose = (event) => this.end(socket, event.code);
    this.expect(socket);
  }

  private end(socket: WebSocket, code: number) {
    if (this.socket !== socket) return;
    this.socket = null;
    clearTimeout(this.deadline);
    this.deadline = 0;
    const left = [...this.followed.values()];
    this.followed.clear();
    left.forEach((each) => each({ type: "lost", code }));
    if (code === 4401) {
      this.close();
      login.set("");
      return;
    }
    this.become("lost");
    if (this.wanted) this.timer = window.setTimeout(() => this.connect(), Math.min(500 * 2 ** this.attempts++, 10_000));
  }

  private hear(message: Message) {
    clearTimeout(this.deadline);
    this.deadline = 0;
    this.last = Date.now();
    if (message.type === "welcome") {
      this.listen();
    } else if (message.type === "subscribed") {
      this.attempts = 0;
      this.cursor ??= message.cursor as number;
      this.become("open"); // subscribed: nothing is missed from here on
    } else if (message.type === "error" && message.ref === EVENTS) { // an older database may have been restored
      if (this.cursor === null) return this.socket?.close();
      this.cursor = null;
      this.listen();
    } else if (message.type === "event") {
      this.cursor = message.cursor as number;
      const event = { ...(message.event as EventAnswer), cursor: this.cursor };
      this.heard.forEach((each) => each(event));
    } else if (message.ref) {
      this.followed.get(message.ref)?.(message);
      if (["result", "error", "stopped", "answered", "canvas_answered"].includes(message.type)) this.followed.delete(message.ref);
    }
  }
}

export const live = new Live();
