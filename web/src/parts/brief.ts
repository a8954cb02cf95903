/** The values of a call's arguments (JSON) in one line. */
export function brief(text: string): string {
  try {
    const values = Object.values(JSON.parse(text) as Record<string, unknown>);
    return values.map((each) => (typeof each === "string" ? each : JSON.stringify(each))).join("  ").slice(0, 200);
  } catch {
    return text.slice(0, 200);
  }
}
