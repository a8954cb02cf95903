/** Verbatim text in a scrolling box. */
export const Code = ({ children }: { children: string }) => (
  <pre dir="auto" tabIndex={0} className="max-h-[28rem] overflow-auto px-4 py-3 font-mono text-xs leading-5 whitespace-pre-wrap break-words">{children}</pre>
);
