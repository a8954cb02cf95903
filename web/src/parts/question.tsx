import { useQueryClient } from "@tanstack/react-query";
import { CircleHelp } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { may } from "../api/client";
import { outbox, randomKey } from "../api/outbox";
import { useConnection } from "../api/queries";
import type { TaskAnswer } from "../api/schema";
import { t } from "../i18n";
import { Badge, Button, Card, When } from "./basics";
import { sessionWord } from "./words";

/** The question without its numbered options, which are buttons. */
export function questionText({ question = "", choices = [] }: Pick<TaskAnswer, "question" | "choices">): string {
  return question.split("\n").slice(0, choices.length ? -choices.length : undefined).join("\n").trim();
}

const ANSWER = /^\s*\/?(approve|allow|deny)\b/i;

/** What a pressed option says. In quotes it does not answer a request for approval, which the button was not about. */
export const optionText = (option: string, isApprovalOpen = false) => (isApprovalOpen || ANSWER.test(option) ? `“${option}”` : option);

/** A question of Hob with its options as buttons. Without `onAnswer` the card sends the answer itself and links to the conversation. */
export function QuestionCard({ task, onAnswer }: { task: TaskAnswer; onAnswer?: (text: string) => void }) {
  const client = useQueryClient();
  const connected = useConnection().state === "open";
  const [state, setState] = useState<"open" | "sending" | "sent">("open");
  const [problem, setProblem] = useState("");
  const answer = (text: string) => {
    setState("sending");
    if (onAnswer) return onAnswer(text);
    setProblem("");
    outbox.send({ key: randomKey(), session: task.session, message: text }, (message) => {
      if (message.type === "accepted") {
        setState("sent");
        void client.invalidateQueries({ queryKey: ["tasks"] });
      } else if (message.type === "refused") { // it is in the conversation's input
        setState("open");
        setProblem(t("Not sent."));
      }
    });
  };
  const text = questionText(task);
  return (
    <Card className="px-4 py-3">
      <article data-question={task.id} aria-label={t("Hob's question")}>
        <div className="mb-1 flex flex-wrap items-center gap-2 text-xs text-muted">
          <Badge tone="warn"><CircleHelp size={12} aria-hidden />{t("needs you")}</Badge>
          <When at={task.updated} />
          {!onAnswer && <span className="min-w-0 truncate">{sessionWord(task.session)}</span>}
        </div>
        <p dir="auto" className="text-lg font-semibold break-words whitespace-pre-wrap">{text || t("Hob asked a question.")}</p>
        {!onAnswer && task.title && <p dir="auto" className="truncate text-sm text-muted">{t("About: {title}", { title: task.title })}</p>}
        <div className="mt-3 flex flex-wrap items-center gap-2">
          {may("chat") && task.choices?.map((choice) => (
            <Button key={choice} disabled={!connected || state !== "open"} onClick={() => answer(optionText(choice))} className="max-w-full py-1.5 text-start">
              <span dir="auto" className="min-w-0 break-words">{choice}</span>
            </Button>
          ))}
          {onAnswer
            ? <span className="text-sm text-muted">{task.choices ? t("Or write your own answer below.") : t("Write your answer below.")}</span>
            : <Link href={`/chat?session=${encodeURIComponent(task.session)}`} className="inline-flex min-h-9 items-center text-accent hover:underline">{task.choices ? t("Answer in chat") : t("Answer")}</Link>}
        </div>
        {state === "sent" && <p role="status" className="mt-2 text-sm text-muted">{t("Answer sent.")}</p>}
        {problem && <p role="alert" className="mt-2 text-sm text-bad">{problem}</p>}
      </article>
    </Card>
  );
}

/** A question from the arguments of its call. */
export function AskedBy({ args }: { args: string }) {
  let asked: { question?: unknown; options?: unknown } = {};
  try {
    asked = JSON.parse(args) as typeof asked;
  } catch { /* a call that did not fit the tool */ }
  return <Asked text={String(asked.question ?? "") || args} options={Array.isArray(asked.options) ? asked.options.map(String) : []} />;
}

/** A question that was answered, with the options that it offered. */
export function Asked({ text, options = [] }: { text: string; options?: string[] }) {
  return (
    <div className="flex gap-2">
      <CircleHelp size={16} role="img" aria-label={t("Hob's question")} className="mt-1 shrink-0 text-accent" />
      <div className="min-w-0">
        <p dir="auto" className="font-medium break-words whitespace-pre-wrap">{text}</p>
        {options.length > 0 && <p dir="auto" className="text-sm break-words text-muted">{options.join(" · ")}</p>}
      </div>
    </div>
  );
}
