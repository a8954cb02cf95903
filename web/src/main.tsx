import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode, startTransition, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import "./app.css";
import { login, may } from "./api/client";
import { live } from "./api/live";
import { outbox } from "./api/outbox";
import { queries } from "./api/queries";
import { loadLanguage, useLanguage } from "./i18n";
import { Login } from "./parts/login";
import { Shell } from "./parts/shell";
import "./parts/worker";

function App() {
  const csrf = useSyncExternalStore(login.subscribe, login.csrf);
  const language = useLanguage();
  return csrf && !location.hash.startsWith("#login=") ? <Shell key={`${language} ${csrf}`} /> : <Login key={language} />;
}

let last = { csrf: login.csrf(), owner: may("admin") };
// what one login has seen is not for the next, in any tab; texts not sent yet stay if the owner signs in again
login.subscribe(() => {
  const csrf = login.csrf();
  if (csrf === last.csrf) return;
  live.close();
  queries.clear();
  if (csrf && !(last.owner && may("admin"))) outbox.forget();
  last = { csrf, owner: csrf ? may("admin") : last.owner };
});

await loadLanguage();
// as a transition, which lets the browser answer to touch in between
startTransition(() => createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
));
