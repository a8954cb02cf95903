import type { ReactNode } from "react";
import { Link } from "wouter";
import { may, type Scope } from "../api/client";

/** What a login must be good for to be shown the place; all others are for whoever may look. */
const TAKES: Record<string, Scope> = { chat: "read", memory: "admin", files: "read", canvas: "read", trust: "read", settings: "admin" };

/** Whether this login is shown the place that the address is in. */
export const maySee = (href: string) => may(TAKES[href.split(/[/?]/)[1] ?? ""] ?? "view");

/** A link to where this login may go; elsewhere its text alone. */
export function To({ href, className, children }: { href: string; className?: string; children: ReactNode }) {
  return maySee(href) ? <Link href={href} className={className}>{children}</Link> : <div className={className?.replace(/\bhover:\S+/g, "")}>{children}</div>;
}
