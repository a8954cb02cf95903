/** A sentence with `code` between backticks. */
export function Told({ text }: { text: string }) {
  return text.split(/`([^`\n]+)`/).map((each, place) =>
    place % 2 ? <code key={place} className="rounded-sm bg-sunken px-1 font-mono text-[0.95em] break-words">{each}</code> : each,
  );
}
