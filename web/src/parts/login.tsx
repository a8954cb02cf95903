import { KeyRound } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Problem, signIn } from "../api/client";
import { t } from "../i18n";
import { Button } from "./basics";
import { Mark } from "./mark";
import { Told } from "./told";

/** The sign-in page: a link signs in by itself, a token is pasted. */
export function Login() {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const begun = useRef("");

  async function enter(by: { code: string } | { token: string }) {
    setBusy(true);
    setProblem("");
    try {
      await signIn(by);
    } catch (error) {
      const wait = error instanceof Problem ? error.retryAfter : null;
      const told = error instanceof Error ? error.message : String(error);
      const wrong = "token" in by && error instanceof Problem && error.code === "unauthorized";
      setProblem(wait ? t("Too many failed attempts. Try again in {seconds} seconds.", { seconds: wait }) : wrong ? t("This token is wrong or no longer valid. Run `hob token show` to get the current one.") : told);
    }
    setBusy(false);
  }

  useEffect(() => {
    const follow = () => {
      const code = location.hash.startsWith("#login=") ? location.hash.slice(7) : "";
      if (!code || begun.current === code) return;
      begun.current = code;
      history.replaceState(null, "", location.pathname + location.search);
      void enter({ code });
    };
    follow();
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);

  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <form
        className="w-full max-w-sm rounded-xl border border-line bg-surface p-6"
        onSubmit={(event) => {
          event.preventDefault();
          void enter({ token: token.trim() });
        }}
      >
        <Mark size={40} />
        <h1 className="mt-4 text-xl font-semibold">{t("Sign in to Hob")}</h1>
        <p className="mt-1 text-muted">
          {t("On the machine running Hob,")} <code className="rounded bg-sunken px-1 font-mono text-text">hob dashboard</code>{" "}
          {t("opens this page signed in, or prints a sign-in link.")}
        </p>
        <label className="mt-5 block text-sm font-medium" htmlFor="token">
          {t("Or paste a token")}
        </label>
        <input
          id="token"
          type="password"
          autoComplete="current-password"
          value={token}
          onChange={(event) => setToken(event.target.value)}
          className="mt-1 h-10 w-full rounded-md border border-line bg-bg px-3 font-mono"
        />
        {problem && (
          <p role="alert" className="mt-3 rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
            <Told text={problem} />
          </p>
        )}
        <Button type="submit" look="main" icon={KeyRound} disabled={busy || !token.trim()} className="mt-4 w-full">
          {t("Sign in")}
        </Button>
      </form>
    </main>
  );
}
