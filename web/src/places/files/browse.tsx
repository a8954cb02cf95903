import { useMutation, useQueries, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { ChevronRight, CornerDownRight, Download, File, FileText, Folder, FolderOpen, Link2, Search } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { useSearchParams } from "wouter";
import { call, fetchRepoFile } from "../../api/client";
import type { RepoRow, TreeAnswer } from "../../api/schema";
import { t, tn } from "../../i18n";
import { Badge, Button, Card, Empty, Failure, Skeleton } from "../../parts/basics";
import { LongList } from "../../parts/long";
import { Markdown } from "../../parts/markdown";
import { Preview } from "../../parts/media";
import type { Repo } from "./files";

/** The tree with the chosen file beside it; during a search, the matching lines. */
export function Browse({ repo }: { repo: Repo }) {
  const [search, setSearch] = useSearchParams();
  const chosen = search.get("path") ?? "";
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text.trim());
  const open = (path: string) => setSearch((before) => {
    const next = new URLSearchParams(before);
    if (path) next.set("path", path);
    else next.delete("path");
    return next;
  });
  return (
    <div className="grid gap-4 md:grid-cols-[18rem_minmax(0,1fr)]">
      <div className={chosen ? "hidden md:block" : ""}>
        <label className="mb-2 flex h-9 items-center gap-2 rounded-md border border-line bg-surface px-2.5 focus-within:border-accent">
          <Search size={15} aria-hidden className="text-muted" />
          <input type="search" value={text} onChange={(event) => setText(event.target.value)} aria-label={t("Search in files")} placeholder={t("Search in files")} className="w-full bg-transparent outline-none" />
        </label>
        <Card className="max-h-[70dvh] overflow-y-auto p-1.5">
          {wanted.length > 1 ? <Matches repo={repo} text={wanted} onOpen={open} /> : <Tree repo={repo} chosen={chosen} onOpen={open} />}
        </Card>
      </div>
      <div className={chosen ? "min-w-0" : "hidden md:block"}>
        {chosen ? (
          <>
            <Button look="quiet" className="mb-2 md:hidden" onClick={() => open("")}>← {t("All files")}</Button>
            <Content key={chosen} repo={repo} path={chosen} />
          </>
        ) : (
          <Empty icon={FileText} title={t("Select a file")}>{t("Files Hob writes for you, and files you give it to work with.")}</Empty>
        )}
      </div>
    </div>
  );
}

type Line = { key: string; depth: number; row?: RepoRow; answer?: UseQueryResult<TreeAnswer> };

/** The folders down to a file. */
const above = (path: string) => path.split("/").slice(0, -1).map((_, place, names) => names.slice(0, place + 1).join("/"));

function Tree({ repo, chosen, onOpen }: { repo: Repo; chosen: string; onOpen: (path: string) => void }) {
  const [opened, setOpened] = useState(() => above(chosen));
  const folders = ["", ...opened];
  const answers = useQueries({ queries: folders.map((path) => ({ queryKey: ["repo", repo, "tree", path], queryFn: () => call("GET /api/v1/repo/tree", { query: { repo, path } }) })) });
  const lines: Line[] = [];
  const walk = (folder: string, depth: number) => {
    const answer = answers[folders.indexOf(folder)]!;
    if (answer.isError || !answer.data?.rows.length) lines.push({ key: `${folder}/`, depth, answer });
    else for (const row of answer.data.rows) {
      lines.push({ key: row.path, depth, row });
      if (opened.includes(row.path)) walk(row.path, depth + 1);
    }
  };
  walk("", 0);
  const toggle = (path: string) => setOpened((before) => (before.includes(path) ? before.filter((each) => each !== path) : [...before, path]));
  return (
    <LongList count={lines.length} size={32} rowKey={(index) => lines[index]!.key} level={(index) => lines[index]!.depth + 1} row={(index) => {
      const { depth, row, answer } = lines[index]!;
      return (
        <div style={{ paddingInlineStart: `${depth * 1.25}rem` }}>
          {row ? <Row row={row} open={opened.includes(row.path)} chosen={chosen} onPress={() => (row.type === "folder" ? toggle(row.path) : onOpen(row.path))} /> : <NoRows answer={answer!} rows={depth ? 1 : 6} />}
        </div>
      );
    }} />
  );
}

function NoRows({ answer, rows }: { answer: UseQueryResult<TreeAnswer>; rows: number }) {
  if (answer.isError) return <Failure error={answer.error} retry={() => void answer.refetch()} />;
  return answer.data ? <p className="px-2 py-1 text-sm text-muted">{t("empty")}</p> : <Skeleton rows={rows} className="h-8" />;
}

function Row({ row, open, chosen, onPress }: { row: RepoRow; open: boolean; chosen: string; onPress: () => void }) {
  const folder = row.type === "folder";
  const Icon = folder ? (open ? FolderOpen : Folder) : row.type === "link" ? Link2 : File;
  return (
    <button
      type="button"
      aria-expanded={folder ? open : undefined}
      aria-current={row.path === chosen ? "true" : undefined}
      onClick={onPress}
      className={`flex min-h-8 w-full items-center gap-2 rounded-md px-2 text-start text-sm ${row.path === chosen ? "bg-accent-soft font-medium" : "hover:bg-sunken"}`}
    >
      <ChevronRight size={13} aria-hidden className={`shrink-0 text-muted ${folder ? "" : "invisible"} ${open ? "rotate-90" : ""}`} />
      <Icon size={15} aria-hidden className={`shrink-0 ${folder ? "text-accent" : "text-muted"}`} />
      <span dir="auto" className="truncate">{row.name}</span>
    </button>
  );
}

function Matches({ repo, text, onOpen }: { repo: Repo; text: string; onOpen: (path: string) => void }) {
  const found = useQuery({
    queryKey: ["repo", repo, "search", text],
    queryFn: () => call("GET /api/v1/repo/search", { query: { repo, text } }),
    placeholderData: (before) => before,
  });
  if (found.isError) return <Failure error={found.error} />;
  if (!found.data) return <Skeleton rows={3} className="h-10" />;
  const { names, matches } = found.data;
  if (!names.length && !matches.length) return <p className="px-2 py-1 text-sm text-muted">{t("No matching files.")}</p>;
  return (
    <ul>
      {names.map((path) => (
        <li key={path}>
          <button type="button" onClick={() => onOpen(path)} className="flex min-h-8 w-full items-center gap-2 rounded-md px-2 text-start text-sm hover:bg-sunken">
            <File size={15} aria-hidden className="shrink-0 text-muted" />
            <span dir="auto" className="truncate">{path}</span>
          </button>
        </li>
      ))}
      {matches.map((each) => (
        <li key={`${each.path}:${each.line}`}>
          <button type="button" onClick={() => onOpen(each.path)} className="w-full rounded-md px-2 py-1.5 text-start text-sm hover:bg-sunken">
            <span className="flex items-center gap-1 text-xs text-muted"><CornerDownRight size={12} aria-hidden /><span className="truncate">{each.path}</span>:{each.line}</span>
            <span dir="auto" className="block truncate font-mono text-xs">{each.text.trim()}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Binary({ repo, path }: { repo: Repo; path: string }) {
  const file = useQuery({ queryKey: ["repo", repo, "raw", path], queryFn: () => fetchRepoFile(repo, path), gcTime: 60_000 });
  if (file.isError) return <Failure error={file.error} />;
  return <div className="p-4">{file.data ? <Preview blob={file.data} name={path.split("/").at(-1)!} /> : <div className="skeleton h-40" />}</div>;
}

/** Saves a file as if a link to it had been pressed. */
function saveAs(blob: Blob, name: string) {
  const url = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function Content({ repo, path }: { repo: Repo; path: string }) {
  const file = useQuery({ queryKey: ["repo", repo, "file", path], queryFn: () => call("GET /api/v1/repo/file", { query: { repo, path } }) });
  const markdown = /\.(md|markdown)$/i.test(path);
  const [raw, setRaw] = useState(false);
  const save = useMutation({ mutationFn: () => fetchRepoFile(repo, path), onSuccess: (blob) => saveAs(blob, name) });
  if (file.isError) return <Failure error={file.error} retry={() => void file.refetch()} />;
  if (!file.data) return <Skeleton rows={8} className="h-6" />;
  const lines = file.data.content.split("\n");
  const name = path.split("/").at(-1)!;
  return (
    <Card className="overflow-hidden">
      <div className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-2">
        <h2 dir="auto" className="min-w-0 flex-1 truncate font-mono text-sm font-semibold">{path}</h2>
        {file.data.cut && <Badge tone="warn">{t("truncated")}</Badge>}
        <span className="text-xs text-muted">{tn("{count} byte", "{count} bytes", file.data.size)}</span>
        {markdown && <Button look="quiet" className="min-h-8" onClick={() => setRaw(!raw)}>{raw ? t("Rendered") : t("Source")}</Button>}
        {!file.data.binary && <Button look="quiet" className="min-h-8" icon={Download} aria-label={t("Save {name}", { name })} disabled={save.isPending} onClick={() => save.mutate()}>{t("Save")}</Button>}
      </div>
      {save.isError && <div className="px-4 py-2"><Failure error={save.error} /></div>}
      {file.data.binary ? (
        <Binary repo={repo} path={path} />
      ) : markdown && !raw ? (
        <div className="max-w-3xl px-6 py-5"><Markdown text={file.data.content} /></div>
      ) : (
        <div role="region" aria-label={path} tabIndex={0} className="max-h-[70dvh] overflow-auto py-2 font-mono text-xs leading-5">
          <div className="flex w-max min-w-full">
            <pre aria-hidden className="sticky start-0 bg-surface px-3 text-end text-muted select-none">{lines.map((_, index) => index + 1).join("\n")}</pre>
            <pre dir="auto" className="pe-4">{file.data.content}</pre>
          </div>
        </div>
      )}
    </Card>
  );
}
