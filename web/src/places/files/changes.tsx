import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Check, GitCommitHorizontal } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";
import { Problem, call, may } from "../../api/client";
import type { ChangeAnswer } from "../../api/schema";
import { t } from "../../i18n";
import { Badge, Button, Card, Empty, Failure, Skeleton, When } from "../../parts/basics";
import { Diff } from "../../parts/diff";
import { LongList } from "../../parts/long";
import type { Repo } from "./files";

const TONES = { new: "good", changed: "accent", gone: "bad", renamed: "accent", conflict: "bad" } as const;

/** Nothing tells of a change by another program: ask again whenever it is looked at. */
export const AFRESH = { staleTime: 0, refetchOnWindowFocus: "always" } as const;

/** Uncommitted changes by file, and the commit form. */
export function Changes({ repo, changes }: { repo: Repo; changes: ChangeAnswer[] }) {
  const client = useQueryClient();
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setChosen] = useState("");
  const [message, setMessage] = useState("");
  const shown = useRef(new Map<string, string>()); // versions of the diffs that were on the page
  const onShown = useCallback((path: string, version: string) => void shown.current.set(path, version), []);
  const path = changes.some((each) => each.path === chosen) ? chosen : (changes[0]?.path ?? "");
  const wanted = changes.filter((each) => !left.has(each.path));
  const commit = useMutation({
    mutationFn: () => {
      const paths = wanted.flatMap((each) => [each.path, each.before].filter(Boolean)); // what came since is not among them
      const reviewed = Object.fromEntries([...shown.current].filter(([each]) => paths.includes(each)));
      return call("POST /api/v1/repo/commit", { body: { repo, message, paths, reviewed } });
    },
    onSuccess: () => {
      setMessage("");
      shown.current.clear();
    },
    onError: (error) => { if (error instanceof Problem && error.param) setChosen(error.param); },
    onSettled: () => void client.invalidateQueries({ queryKey: ["repo", repo] }),
  });
  if (!changes.length) {
    return <Empty icon={Check} title={t("No changes. Everything is committed.")}>{t("Changes made by you or Hob appear here until they are committed.")}</Empty>;
  }
  return (
    <div className="grid gap-4 md:grid-cols-[20rem_minmax(0,1fr)]">
      <div className="flex flex-col gap-3">
        <Card className="max-h-80 overflow-y-auto p-1.5">
          <LongList count={changes.length} size={36} rowKey={(index) => changes[index]!.path} row={(index) => {
            const each = changes[index]!;
            return (
              <div className={`flex items-center gap-2 rounded-md px-2 ${each.path === path ? "bg-accent-soft" : "hover:bg-sunken"}`}>
                <input type="checkbox" checked={!left.has(each.path)} aria-label={t("Commit {path}", { path: each.path })} className="size-4 shrink-0 accent-(--accent)"
                  onChange={() => setLeft((before) => {
                    const next = new Set(before);
                    if (!next.delete(each.path)) next.add(each.path);
                    return next;
                  })} />
                <button type="button" onClick={() => setChosen(each.path)} className="flex min-h-9 min-w-0 flex-1 items-center gap-2 text-start">
                  <span dir="auto" className="min-w-0 flex-1 truncate text-sm">{each.path}</span>
                  <Badge tone={TONES[each.state as keyof typeof TONES] ?? "plain"}>{t(each.state)}</Badge>
                </button>
              </div>
            );
          }} />
        </Card>
        <form hidden={!may("admin")} className="flex flex-col gap-2" onSubmit={(event) => { event.preventDefault(); commit.mutate(); }}>
          <textarea rows={3} dir="auto" value={message} onChange={(event) => setMessage(event.target.value)} aria-label={t("Commit message")}
            placeholder={t("Commit message")} className="rounded-md border border-line bg-surface px-3 py-2" />
          <Button type="submit" look="main" icon={GitCommitHorizontal} disabled={!message.trim() || !wanted.length || commit.isPending}>
            {wanted.length === 1 ? t("Commit one file") : t("Commit {count} files", { count: wanted.length })}
          </Button>
          {commit.isError && <Failure error={commit.error} />}
        </form>
      </div>
      <FileDiff repo={repo} path={path} onShown={onShown} />
    </div>
  );
}

function FileDiff({ repo, path, onShown }: { repo: Repo; path: string; onShown: (path: string, version: string) => void }) {
  const diff = useQuery({ queryKey: ["repo", repo, "diff", path], queryFn: () => call("GET /api/v1/repo/diff-file", { query: { repo, path } }), ...AFRESH });
  const version = diff.data?.version;
  useEffect(() => { if (version) onShown(path, version); }, [onShown, path, version]);
  if (diff.isError) return <Failure error={diff.error} />;
  return <Card className="min-w-0 overflow-hidden">{diff.data ? <Diff text={diff.data.diff} /> : <Skeleton rows={8} className="h-5" />}</Card>;
}

/** The commits, and the diff of the chosen one. */
export function History({ repo }: { repo: Repo }) {
  const log = useQuery({ queryKey: ["repo", repo, "log"], queryFn: () => call("GET /api/v1/repo/log", { query: { repo, limit: 100 } }) });
  const [chosen, setChosen] = useState("");
  if (log.isError) return <Failure error={log.error} retry={() => void log.refetch()} />;
  if (!log.data) return <Skeleton rows={6} className="h-12" />;
  const commits = log.data.commits;
  const commit = chosen || commits[0]?.hash || "";
  return (
    <div className="grid gap-4 md:grid-cols-[20rem_minmax(0,1fr)]">
      <Card className="max-h-[75dvh] overflow-y-auto p-1.5">
        <ul>
          {commits.map((each) => (
            <li key={each.hash}>
              <button type="button" aria-current={each.hash === commit ? "true" : undefined} onClick={() => setChosen(each.hash)}
                className={`w-full rounded-md px-2.5 py-2 text-start ${each.hash === commit ? "bg-accent-soft" : "hover:bg-sunken"}`}>
                <span dir="auto" className="block truncate font-medium">{each.subject}</span>
                <span className="flex justify-between gap-2 text-xs text-muted"><span className="truncate">{each.author} · <code className="font-mono">{each.hash.slice(0, 7)}</code></span><When at={each.at} /></span>
              </button>
            </li>
          ))}
        </ul>
        {!commits.length && <p className="px-3 py-4 text-muted">{t("No commits yet.")}</p>}
      </Card>
      {commit && <CommitDiff repo={repo} commit={commit} />}
    </div>
  );
}

function CommitDiff({ repo, commit }: { repo: Repo; commit: string }) {
  const diff = useQuery({ queryKey: ["repo", repo, "diff", commit], queryFn: () => call("GET /api/v1/repo/diff", { query: { repo, commit } }) });
  if (diff.isError) return <Failure error={diff.error} />;
  return <Card className="min-w-0 overflow-hidden">{diff.data ? <Diff text={diff.data.diff} /> : <Skeleton rows={8} className="h-5" />}</Card>;
}
