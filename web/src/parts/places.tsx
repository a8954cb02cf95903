import type { ReactNode } from "react";
import { Link } from "wouter";
import { may, type Scope } from "../api/client";

/** The scope that a place needs; other places need only `view`. */
const TAKES: Record<string, Scope> = { chat: "read", memory: "admin", files: "read", canvas: "read", trust: "read", settings: "admin" };

/** Whether this login may see the place of this address. */
export const maySee = (href: string) => may(TAKES[href.split(/[/?]/)[1] ?? ""] ?? "view");

/** A link if this login may open it, else plain text. */
export function To({ href, className, children }: { href: string; className?: string; children: ReactNode }) {
  return maySee(href) ? <Link href={href} className={className}>{children}</Link> : <div className={className?.replace(/\bhover:\S+/g, "")}>{children}</div>;
}
