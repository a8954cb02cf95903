import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowDownToLine, ArrowUpFromLine, FolderGit2, GitBranch, GitPullRequest } from "lucide-react";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { Problem, call, may } from "../../api/client";
import { useChange } from "../../api/queries";
import { t } from "../../i18n";
import { Badge, Button, Dialog, Empty, Failure, Page, Skeleton, Tabs } from "../../parts/basics";
import { Told } from "../../parts/told";
import { Browse } from "./browse";
import { AFRESH, Changes, History } from "./changes";

export type Repo = "work" | "identity";
type Tab = "files" | "changes" | "history";

/** The work folder and the identity files: contents, changes, history. */
export function Files() {
  const [search, setSearch] = useSearchParams();
  const repo: Repo = search.get("repo") === "identity" ? "identity" : "work";
  const tab: Tab = search.get("tab") === "changes" ? "changes" : search.get("tab") === "history" ? "history" : "files";
  const status = useQuery({ queryKey: ["repo", repo, "status"], queryFn: () => call("GET /api/v1/repo/status", { query: { repo } }), ...AFRESH });
  const go = (next: Record<string, string>) => setSearch({ ...(repo === "identity" ? { repo } : {}), ...(tab !== "files" ? { tab } : {}), ...next }, { replace: true });
  const told = status.data;
  const missing = status.error instanceof Problem && status.error.status === 404;
  return (
    <Page
      title={t("Files")}
      about={status.isPending ? "" : told?.root}
      wide
      more={
        <Tabs label={t("Folder")} chosen={repo} onChoose={(chosen) => setSearch(chosen === "identity" ? { repo: chosen } : {}, { replace: true })}
          tabs={[["work", t("Work")], ["identity", t("Identity")]] as const} />
      }
    >
      {missing ? (
        <Empty icon={FolderGit2} title={t("No folder yet.")}>{t("Hob creates it when it first writes a file or runs a command.")}</Empty>
      ) : status.isError ? (
        <Failure error={status.error} retry={() => void status.refetch()} />
      ) : !told ? (
        <Skeleton rows={6} className="h-10" />
      ) : (
        <>
          <div className="mb-4 flex flex-wrap items-center gap-2">
            <Tabs label={t("View")} chosen={tab} onChoose={(chosen) => go({ tab: chosen })}
              tabs={[["files", t("Files")], ["changes", told.changes.length ? t("Changes ({count})", { count: told.changes.length }) : t("Changes")], ["history", t("History")]] as const} />
            {told.repository && may("admin") && <Branch repo={repo} status={told} />}
          </div>
          {tab === "files" ? <Browse repo={repo} /> : !told.repository ? <Begin repo={repo} /> : tab === "changes" ? <Changes repo={repo} changes={told.changes} /> : <History repo={repo} />}
        </>
      )}
    </Page>
  );
}

function Begin({ repo }: { repo: Repo }) {
  const begin = useChange(["repo"], () => call("POST /api/v1/repo/init", { body: { repo } }));
  return (
    <Empty icon={FolderGit2} title={t("This folder is not a git repository.")}>
      <p>{t("As a git repository it can show changes and undo them.")}</p>
      <Button needs="admin" look="main" className="mt-3" disabled={begin.isPending} onClick={() => begin.mutate()}>{t("Initialize repository")}</Button>
      {begin.isError && <Failure error={begin.error} />}
    </Empty>
  );
}

function Branch({ repo, status }: { repo: Repo; status: { branch: string; remote: string; ahead: number; behind: number } }) {
  const client = useQueryClient();
  const [naming, setNaming] = useState<"branch" | "pr" | null>(null);
  const [said, setSaid] = useState<{ text: string; bad: boolean } | null>(null);
  const branches = useQuery({ queryKey: ["repo", repo, "branches"], queryFn: () => call("GET /api/v1/repo/branches", { query: { repo } }) });
  const done = () => void client.invalidateQueries({ queryKey: ["repo", repo] });
  const act = useMutation({
    mutationFn: (run: () => Promise<{ result: string }>) => run(),
    onSuccess: (told) => {
      setSaid({ text: told.result.split("\n").at(-1) ?? "", bad: false });
      setNaming(null);
    },
    onError: (error) => setSaid({ text: error.message, bad: true }),
    onSettled: done,
  });
  const names = branches.data?.branches ?? [];
  const gh = useQuery({ queryKey: ["gh-auth"], queryFn: () => call("GET /api/v1/repo/gh-auth"), enabled: naming === "pr", staleTime: 0 }).data?.status;
  const gitHub = { missing: t("GitHub's `gh` is not installed on Hob's machine."), signed_out: t("`gh` is not signed in: run `gh auth login` on Hob's machine.") }[gh ?? ""] ?? "";
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-1 gap-y-2 sm:ms-auto sm:gap-x-2">
        <label className="flex h-9 items-center gap-2 rounded-md border border-line bg-surface ps-2.5">
          <GitBranch size={15} aria-hidden className="text-muted" />
          <select aria-label={t("Branch")} value={status.branch} disabled={act.isPending} className="h-full max-w-20 rounded-md bg-surface sm:max-w-44 pe-1 font-mono text-sm"
            onChange={(event) => {
              const branch = event.target.value;
              if (!branch) setNaming("branch");
              else act.mutate(() => call("POST /api/v1/repo/checkout", { body: { repo, branch } }));
            }}>
            {[...new Set([status.branch, ...names])].map((each) => <option key={each} value={each}>{each}</option>)}
            <option value="">{t("New branch…")}</option>
          </select>
        </label>
        {status.ahead > 0 && <Badge>↑ {status.ahead}</Badge>}
        {status.behind > 0 && <Badge tone="warn">↓ {status.behind}</Badge>}
        <Button look="quiet" icon={ArrowDownToLine} disabled={act.isPending} onClick={() => act.mutate(() => call("POST /api/v1/repo/pull", { body: { repo } }))}>{t("Pull")}</Button>
        <Button look="quiet" icon={ArrowUpFromLine} disabled={act.isPending} onClick={() => act.mutate(() => call("POST /api/v1/repo/push", { body: { repo } }))}>{t("Push")}</Button>
        <Button look="quiet" icon={GitPullRequest} label={t("Pull request")} className="px-2" onClick={() => setNaming("pr")} />
      </div>
      {said && (
        <p role={said.bad ? "alert" : "status"} className={`w-full rounded-md px-3 py-2 text-sm whitespace-pre-wrap ${said.bad ? "bg-bad-soft text-bad" : "bg-sunken text-muted"}`}>
          {said.text || t("Done.")}
        </p>
      )}
      <Naming open={naming === "branch"} title={t("New branch")} label={t("Name")} onClose={() => setNaming(null)}
        onName={(branch) => act.mutate(() => call("POST /api/v1/repo/checkout", { body: { repo, branch, create: true } }))} />
      <Naming open={naming === "pr"} title={t("Pull request")} label={t("Title")} about={t("The branch is pushed first, then `gh` opens the pull request on GitHub.")} problem={naming === "pr" ? gitHub : ""} onClose={() => setNaming(null)}
        onName={(title) => act.mutate(async () => {
          await call("POST /api/v1/repo/push", { body: { repo } });
          return call("POST /api/v1/repo/pr", { body: { repo, title } });
        })} />
    </>
  );
}

function Naming({ open, title, label, about, problem, onClose, onName }: {
  open: boolean; title: string; label: string; about?: string; problem?: string; onClose: () => void; onName: (name: string) => void;
}) {
  const [name, setName] = useState("");
  return (
    <Dialog open={open} onClose={onClose} title={title}>
      <form className="flex flex-col gap-3" onSubmit={(event) => { event.preventDefault(); onName(name.trim()); }}>
        {about && <p className="text-muted">{about}</p>}
        {problem && <p role="alert" className="text-bad"><Told text={problem} /></p>}
        <input autoFocus value={name} onChange={(event) => setName(event.target.value)} aria-label={label} placeholder={label} className="h-10 rounded-md border border-line bg-bg px-3" />
        <Button type="submit" look="main" disabled={!name.trim() || !!problem} className="self-end">{t("Create")}</Button>
      </form>
    </Dialog>
  );
}
