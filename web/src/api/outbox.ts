import { t } from "../i18n";
import { live, type Message } from "./live";

/** A message on its way: kept, over reloads too, until the server has accepted it. `problem`: why the server never will. */
export type Unsent = { key: string; session: string; message: string; attachments?: { id: string; name: string; voice?: boolean }[]; problem?: string };

const KEPT = "hob.unsent";
const TRIES = 5; // a connection that breaks so often breaks because of the message

/** A new random key. `crypto.randomUUID` is missing over plain HTTP. */
export const randomKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (each) => each.toString(16).padStart(2, "0")).join("");

/** Keep a text for this tab, unless it is larger than what the browser keeps. */
export function keep(name: string, text: string) {
  try {
    sessionStorage.setItem(name, text);
  } catch {
    sessionStorage.removeItem(name);
  }
}

/** Sends messages, again after every reconnection. The server takes each key once. */
class Outbox {
  private kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]") as Unsent[];
  private readonly tries = new Map<string, number>();
  private readonly listeners = new Map<string, (message: Message) => void>();
  private readonly refusals = new Map<string, (one: Unsent) => void>();

  constructor() {
    live.subscribe(() => live.connection.state === "open" && this.kept.filter((each) => !each.problem).forEach((each) => this.ask(each)));
  }

  /** The messages to a conversation that may not have arrived. */
  pending(session: string) {
    return this.kept.filter((each) => each.session === session && !each.problem);
  }

  send(one: Unsent, listener: (message: Message) => void) {
    this.listeners.set(one.key, listener);
    this.change([...this.kept, one]);
    if (live.connection.state === "open") this.ask(one);
  }

  /** Receive the answers to a pending message. */
  follow(key: string, listener: (message: Message) => void) {
    this.listeners.set(key, listener);
  }

  /** Receive the messages to a conversation that the server refused, now and later. */
  onRefused(session: string, take: (one: Unsent) => void) {
    this.refusals.set(session, take);
    for (const each of this.kept) if (each.session === session && each.problem) this.refuse(each, each.problem);
    return () => void this.refusals.delete(session);
  }

  /** Forget these messages and all drafts: they are not for whoever signs in next. */
  forget() {
    this.kept = [];
    sessionStorage.clear();
  }

  private change(kept: Unsent[]) {
    this.kept = kept;
    keep(KEPT, JSON.stringify(kept));
  }

  private refuse(one: Unsent, problem: string) {
    const take = this.refusals.get(one.session);
    const refused = { ...one, problem };
    this.change(this.kept.flatMap((each) => (each !== one ? [each] : take ? [] : [refused])));
    this.listeners.get(one.key)?.({ type: "refused" });
    take?.(refused);
  }

  private ask(one: Unsent) {
    live.ask({ type: "send", ...one }, (message) => {
      if (this.kept.includes(one)) {
        const error = message.error as { code: string; message: string } | undefined;
        if (message.type === "accepted") this.change(this.kept.filter((each) => each !== one));
        else if (message.type === "lost") {
          const tries = (this.tries.get(one.key) ?? 0) + 1;
          this.tries.set(one.key, tries);
          if (message.code === 1009 && this.kept.every((each) => each.problem || each.message.length <= one.message.length)) return this.refuse(one, t("It is too large."));
          if (tries >= TRIES) return this.refuse(one, t("The connection broke each time."));
        } else if (error && ["offline", "stopping"].includes(error.code)) return; // the connection is about to end
        else if (error) return this.refuse(one, error.message);
      }
      this.listeners.get(one.key)?.(message);
    });
  }
}

export const outbox = new Outbox();
