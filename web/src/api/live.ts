import { login } from "./client";
import type { EventAnswer } from "./schema";

/** A message of the WebSocket: `type`, the `ref` it answers, and its fields. */
export type Message = { type: string; ref?: string } & Record<string, unknown>;
export type LiveEvent = EventAnswer & { cursor: number };
export type Connection = { state: "connecting" | "open" | "lost"; since: number };

const EVENTS = "events";

/** The page's connection: events with a cursor, so that none is lost or repeated, and requests. */
class Live {
  private socket: WebSocket | null = null;
  private cursor: number | null = null;
  private begun = false; // whether the starting cursor is known
  private attempts = 0;
  private next = 0;
  private timer = 0;
  private wanted = false;
  private readonly followed = new Map<string, (message: Message) => void>();
  private readonly heard = new Set<(event: LiveEvent) => void>();
  private readonly watching = new Set<() => void>();
  connection: Connection = { state: "connecting", since: Date.now() };

  /** Connect, and reconnect when needed. Events start at `after`, once known. */
  open() {
    if (this.wanted) return;
    this.wanted = true;
    this.connect();
  }

  close() {
    this.wanted = false;
    clearTimeout(this.timer);
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

  private connect() {
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
    this.socket = socket;
    socket.onopen = () => socket.send(JSON.stringify({ type: "hello", token: login.csrf() }));
    socket.onmessage = (event) => this.hear(JSON.parse(event.data as string) as Message);
    socket.onclose = (event) => {
      if (this.socket !== socket) return;
      const left = [...this.followed.values()];
      this.followed.clear();
      left.forEach((each) => each({ type: "lost" }));
      if (event.code === 4401) {
        this.close();
        login.set("");
        return;
      }
      this.become("lost");
      if (this.wanted) {
        this.timer = window.setTimeout(() => this.connect(), Math.min(500 * 2 ** this.attempts++, 10_000));
      }
    };
  }

  private hear(message: Message) {
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
