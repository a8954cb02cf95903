import { may } from "../../api/client";
import type { SentMessageAnswer } from "../../api/schema";
import { Button } from "../../parts/basics";
import { Markdown } from "../../parts/markdown";
import { Files } from "../../parts/media";

/** A message that Hob sent beside its answer: what it replies to, its text, its files, and its options as buttons. */
export function Sent({ message, onChoose }: { message: SentMessageAnswer; onChoose: (option: string) => void }) {
  const options = [...message.buttons, ...message.poll];
  return (
    <article data-message={message.id} className="flex flex-col gap-2">
      {message.reply_to && <blockquote dir="auto" className="truncate border-s-2 border-line ps-3 text-sm text-muted">{message.reply_to.text}</blockquote>}
      {message.text && <Markdown text={message.text} />}
      <Files files={message.attachments} />
      {options.length > 0 && may("chat") && (
        <div className="flex flex-wrap gap-2">
          {options.map((each) => (
            <Button key={each} onClick={() => onChoose(each)} className="max-w-full py-1.5 text-start"><span dir="auto" className="min-w-0 break-words">{each}</span></Button>
          ))}
        </div>
      )}
    </article>
  );
}
